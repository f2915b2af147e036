"""The frame of every audit: what one declares (``spec``), its plan, its run, its findings, its page and its verb."""

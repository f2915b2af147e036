"""The pages of the crop audits: tables of a run folder in, one page out; no torch, no network."""

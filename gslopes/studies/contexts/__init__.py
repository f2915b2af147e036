"""The order of the context audit's work: cut out, compose, score, analyse, page; each can be stopped and resumed."""

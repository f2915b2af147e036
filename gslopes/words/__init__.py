"""Words: from a caption to tagged tokens, to a graph of objects, attributes and relations, to WordNet's synsets."""

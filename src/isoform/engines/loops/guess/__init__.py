"""Features of a cut, and the facts about them that hold in all the data."""

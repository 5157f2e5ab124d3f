"""That a guess is right: both sides followed from cut to cut, and every obligation asked."""

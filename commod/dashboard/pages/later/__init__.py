"""Still true: later people beside those that a model was tested on."""

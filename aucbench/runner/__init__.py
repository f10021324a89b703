"""One cell, from arrays to an outcome. Receives objects, never names. Imported by all rooms above."""

"""One cell, from arrays to an outcome. Receives objects, never names; imported by all higher packages."""

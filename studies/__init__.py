"""Studies about the methods that are written on the public interface of aucbench; not part of the package."""

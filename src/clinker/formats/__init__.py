"""File formats: bytes to Arrow record batches and back. Knows Arrow and files, nothing of plans."""

"""The linear chain of the CRF heads (Lafferty et al., 2001), with learned scores of adjacent tags."""

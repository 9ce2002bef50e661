"""The linear chain behind the CRF heads (Lafferty et al., 2001): scores of neighbouring tags, learnt with the rest."""

"""The border protocol: frames, and the values that cross. Used on both sides."""

//! The framework.

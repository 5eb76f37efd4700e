//! Droid's stream: each oddity of real logs, from the log to the conversation.

use std::fs;

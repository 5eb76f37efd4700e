//! The project of the caller: the roots of the client, or else the folder that the server was started in.

use std::{path::PathBuf, time::Duration};

use percent_encoding::percent_decode_str;
use rmcp::{RoleServer, service::RequestContext};
use tokio::{sync::Mutex, time::timeout};

use crate::project::named;

/// The time that a client has to name its roots. A call waits for them once.
const PATIENCE: Duration = Duration::from_secs(5);

/// How the project of a caller is found.
pub(crate) enum Project {
    /// The client is a process of this folder, and may have roots.
    Near { folder: PathBuf, roots: Mutex<Option<Vec<String>>> },
    /// The client may be anywhere: a request names its project in its address, or asks about all projects.
    #[cfg(feature = "serve")]
    Far,
}

impl Project {
    /// The project of a client that was started in this folder.
    pub(crate) fn near(folder: PathBuf) -> Self {
        Self::Near { folder, roots: Mutex::default() }
    }

    /// The folders of the caller's project; none if it has no project.
    pub(crate) async fn folders(&self, context: &RequestContext<RoleServer>) -> Vec<String> {
        match self {
            Self::Near { folder, roots } => {
                let mut known = roots.lock().await;
                if known.is_none() {
                    *known = Some(ask(context).await);
                }
                match known.as_deref() {
                    // The root of the file system is no project.
                    None | Some([]) if folder.parent().is_none() => Vec::new(),
                    None | Some([]) => folder.to_str().map(named).into_iter().collect(),
                    Some(roots) => roots.iter().map(|root| named(root)).collect(),
                }
            }
            #[cfg(feature = "serve")]
            Self::Far => {
                let request = context.extensions.get::<axum::http::request::Parts>();
                let query = request.and_then(|request| request.uri.query()).unwrap_or_default();
                let named = query.split('&').find_map(|part| part.strip_prefix("project="));
                named.into_iter().map(decoded).collect()
            }
        }
    }

    /// The client has other roots now.
    pub(crate) async fn forget(&self) {
        match self {
            Self::Near { roots, .. } => *roots.lock().await = None,
            #[cfg(feature = "serve")]
            Self::Far => {}
        }
    }
}

/// The folders that are roots of the client. A client of a protocol without roots has none.
#[expect(deprecated, reason = "clients of protocols before 2026-07-28 name their folders as roots")]
async fn ask(context: &RequestContext<RoleServer>) -> Vec<String> {
    if context.client_capabilities().is_none_or(|known| known.roots.is_none()) {
        return Vec::new();
    }
    match timeout(PATIENCE, context.peer.list_roots()).await {
        Ok(Ok(listed)) => listed.roots.iter().filter_map(|root| folder(&root.uri)).collect(),
        _ => Vec::new(),
    }
}

/// The folder of an address, if it is one of a file.
fn folder(uri: &str) -> Option<String> {
    let path = decoded(uri.strip_prefix("file://")?);
    // `file:///C:/code` is a folder of Windows.
    let drive = path.strip_prefix('/').filter(|path| path.as_bytes().get(1) == Some(&b':'));
    Some(drive.map(str::to_owned).unwrap_or(path)).filter(|path| !path.is_empty())
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_a_folder() {
        assert_eq!(folder("file:///code/a%20b"), Some("/code/a b".to_owned()));
        assert_eq!(folder("file:///C:/code"), Some("C:/code".to_owned()));
        assert_eq!(folder("https://example.org/code"), None);
        assert_eq!(folder("file://"), None);
    }
}

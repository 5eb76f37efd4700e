//! The folders in which Visual Studio Code and its relatives keep the files of their extensions.

/// The folder of an editor's user, with a folder below it.
#[cfg(target_os = "macos")]
macro_rules! editor_folder {
    ($editor:literal, $folder:literal) => {
        concat!("~/Library/Application Support/", $editor, "/User/", $folder)
    };
}

/// The folder of an editor's user, with a folder below it.
#[cfg(windows)]
macro_rules! editor_folder {
    ($editor:literal, $folder:literal) => {
        concat!("${APPDATA:-~/AppData/Roaming}/", $editor, "/User/", $folder)
    };
}

/// The folder of an editor's user, with a folder below it.
#[cfg(not(any(target_os = "macos", windows)))]
macro_rules! editor_folder {
    ($editor:literal, $folder:literal) => {
        concat!("${XDG_CONFIG_HOME:-~/.config}/", $editor, "/User/", $folder)
    };
}

/// Folders below those of all editors' users, and further folders.
macro_rules! editor_folders {
    ($($folder:literal),*; $($more:literal),*) => {
        &[
            $(
                editor_folder!("Code", $folder),
                editor_folder!("Code - Insiders", $folder),
                editor_folder!("VSCodium", $folder),
                editor_folder!("Cursor", $folder),
                editor_folder!("Windsurf", $folder),
            )*
            $($more),*
        ]
    };
}

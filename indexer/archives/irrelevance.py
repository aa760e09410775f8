"""What lies in a folder of chats without being chats: left out without a word."""

from __future__ import annotations

import re

from indexer.archives.files import ArchiveFile
from indexer.archives.markdown import SUFFIXES, is_memory

SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".mypy_cache", ".pytest_cache"}
    | {".ruff_cache", ".cache", ".Trash", "__MACOSX", ".obsidian", ".idea", ".vscode"}
)
_SUFFIXES = (
    *(".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".svg", ".ico", ".heic", ".avif"),
    *(".mp3", ".ogg", ".oga", ".opus", ".wav", ".m4a", ".flac", ".aac", ".mp4", ".mov", ".avi", ".mkv"),
    *(".webm", ".m4v", ".3gp", ".tgs", ".jpg_thumb", ".mp4_thumb", ".webp_thumb"),
    *(".pdf", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".odt", ".ods", ".odp", ".epub", ".fb2"),
    *(".exe", ".dll", ".so", ".dylib", ".apk", ".jar", ".whl", ".dmg", ".iso", ".deb", ".rpm", ".bin"),
    *(".woff", ".woff2", ".ttf", ".otf", ".pyc", ".map", ".log", ".pem", ".key", ".crt", ".pid", ".sock"),
    *(".toml", ".lock", ".yaml", ".yml", ".ini", ".cfg", ".conf", ".env", ".service", ".plist"),
    *(".py", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".css", ".scss", ".sh", ".bash", ".ps1", ".bat"),
    *(".c", ".h", ".cpp", ".go", ".rs", ".java", ".rb", ".sql"),
    *("-wal", "-shm", "-journal", ".bak", ".swp", ".tmp", ".part", ".crdownload", "~"),
)
_NAMES = frozenset(
    {"license", "licence", "copying", "notice", "makefile", "dockerfile"}
    | {".ds_store", "thumbs.db", "desktop.ini", ".gitignore", ".gitattributes", ".gitkeep"}
    | {"package.json", "package-lock.json", "tsconfig.json"}
    | {"sessions.json", "openclaw.json", "auth-profiles.json", "models.json"}
)
_PATTERNS = re.compile(
    r"(?:sessions|openclaw|auth-profiles)\.json\..*"
    r"|.*\.checkpoint\.[0-9a-f-]+\.jsonl(?:\..*)?"
    r"|.*\.trajectory\.jsonl(?:\..*)?|.*\.trajectory-path\.json(?:\..*)?"
)
# OpenClaw's archives of sessions end in a time or a hash, never in one of the suffixes above.
_SESSION = re.compile(r".*\.jsonl(?:\.(?:reset|deleted|bak)(?:\.|$).*)?")


def ignored(file: ArchiveFile) -> bool:
    """True for files that are plainly no archive of talks, by name; never for one that its owner named."""
    if file.given:
        return False
    name = file.base.lower()
    if name in _NAMES or _PATTERNS.fullmatch(name):
        return True
    if _SESSION.fullmatch(name):
        return False
    if name.endswith(SUFFIXES):
        return not is_memory(file)
    return name.endswith(_SUFFIXES)

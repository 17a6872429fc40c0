"""Loads a plugin, a file or a folder with __init__.py, and again when one of its files has changed. Compiled code is not kept: it is
matched by a time in whole seconds, and an edit within one would not be seen."""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys


class _FreshLoader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname):
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class _FolderFinder(importlib.abc.MetaPathFinder):
    """Modules of the plugin's own packages, or those beside the plugin."""

    def __init__(self, folder, is_of_packages):
        self.folder = folder
        self._is_of_packages = is_of_packages

    def find_spec(self, fullname, path, target=None):
        if (path is not None) != self._is_of_packages:
            return None
        folders = [self.folder] if path is None else [one for one in path if _is_below(one, self.folder) and not _is_installed(one)]
        if not folders:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, folders)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _FreshLoader(spec.loader.name, spec.loader.path)
        return spec


def _is_below(path, folder):
    return path == folder or path.startswith(folder + os.sep)


def _stamp(path):
    try:
        found = os.stat(path)
        return found.st_mtime_ns, found.st_size, found.st_ino
    except OSError:
        return None


class Plugin:
    """One plugin of this process."""

    def __init__(self, path):
        self.path = path
        is_folder = os.path.isdir(path)
        self._file = os.path.join(path, "__init__.py") if is_folder else path
        name = os.path.basename(path)
        self._name = name if is_folder else os.path.splitext(name)[0]
        self._folder = os.path.dirname(path)
        self._module = None
        self._stamps = {}
        self._finders = (_FolderFinder(self._folder, True), _FolderFinder(self._folder, False))
        sys.meta_path.insert(0, self._finders[0])
        # behind everything else: a plugin named json.py must not stand for json
        sys.meta_path.append(self._finders[1])

    def forget(self):
        """Another plugin takes its place."""
        for finder in self._finders:
            sys.meta_path.remove(finder)
        self._drop_modules()

    def function(self, entry):
        """@raises what loading raises, AttributeError without the function"""
        if self._module is None or self._has_changed():
            self._load()
        function = getattr(self._module, entry, None)
        if not callable(function):
            raise AttributeError(f"the plugin {os.path.basename(self.path)} defines no function {entry}")
        return function

    def _has_changed(self):
        # a file that is gone leaves what is loaded
        return any(_stamp(path) not in (stamp, None) for path, stamp in self._stamps.items())

    def _own_modules(self):
        """(name, file) of modules that were imported from the plugin's surroundings."""
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and _is_below(file, self._folder) and not _is_installed(file):
                yield name, file

    def _drop_modules(self):
        for name, _ in self._own_modules():
            del sys.modules[name]

    def _load(self):
        self._drop_modules()
        importlib.invalidate_caches()
        self._module = None
        stamps = {self._file: _stamp(self._file)}
        spec = importlib.util.spec_from_file_location(
            self._name,
            self._file,
            loader=_FreshLoader(self._name, self._file),
            submodule_search_locations=[self.path] if self._file != self.path else None,
        )
        module = importlib.util.module_from_spec(spec)
        before = sys.modules.get(self._name)
        # a plugin may have the name of a library that is loaded: that one stays what others import
        if before is None:
            sys.modules[self._name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            if before is None:
                sys.modules.pop(self._name, None)
            raise
        for _, file in self._own_modules():
            stamps[file] = _stamp(file)
        self._module = module
        self._stamps = stamps


def _is_installed(file):
    return "site-packages" in file.split(os.sep)

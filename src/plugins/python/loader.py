"""Loads a plugin, a file or a folder with __init__.py, and again when one of its files has changed. Compiled code is not kept: it is
matched by a time in whole seconds, and an edit within one would not be seen."""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys


class PluginGone(Exception):
    """The plugin is not where it was."""


class _FreshLoader(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname, path, plugin):
        super().__init__(fullname, path)
        self._plugin = plugin

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        # first: what changes while it is read has changed
        self._plugin.stamps[path] = _stamp(path)
        return self.source_to_code(self.get_data(path), path)


class _FolderFinder(importlib.abc.MetaPathFinder):
    """Modules of the plugin's own packages, or those beside the plugin."""

    def __init__(self, plugin, is_of_packages):
        self.folder = plugin.folder
        self._plugin = plugin
        self._is_of_packages = is_of_packages

    def find_spec(self, fullname, path, target=None):
        if (path is not None) != self._is_of_packages:
            return None
        folders = [self.folder] if path is None else [one for one in path if _is_below(one, self.folder) and not _is_installed(one)]
        if not folders:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, folders)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _FreshLoader(spec.loader.name, spec.loader.path, self._plugin)
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
        self.folder = os.path.dirname(path)
        # by file that was read; what is imported during a run is added then
        self.stamps = {}
        self._module = None
        self._module_count = 0
        self._finders = (_FolderFinder(self, True), _FolderFinder(self, False))
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
        self._note_modules()
        # a file that is gone leaves what is loaded
        return any(_stamp(path) not in (stamp, None) for path, stamp in self.stamps.items())

    def _note_modules(self):
        """Those that were imported in other ways, as by sys.path."""
        if len(sys.modules) == self._module_count:
            return
        self._module_count = len(sys.modules)
        for _, file in self._own_modules():
            if file not in self.stamps:
                self.stamps[file] = _stamp(file)

    def _own_modules(self):
        """(name, file) of modules that were imported from the plugin's surroundings."""
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and _is_below(file, self.folder) and not _is_installed(file):
                yield name, file

    def _drop_modules(self):
        for name, _ in self._own_modules():
            del sys.modules[name]

    def _load(self):
        self._drop_modules()
        importlib.invalidate_caches()
        self._module = None
        self.stamps = {}
        self._module_count = 0
        # a folder that is being replaced may not be there, so it is looked at each time
        is_folder = os.path.isdir(self.path)
        file = os.path.join(self.path, "__init__.py") if is_folder else self.path
        if _stamp(file) is None:
            raise PluginGone(f"there is no {file}")
        name = os.path.basename(self.path)
        name = name if is_folder else os.path.splitext(name)[0]
        spec = importlib.util.spec_from_file_location(
            name,
            file,
            loader=_FreshLoader(name, file, self),
            submodule_search_locations=[self.path] if is_folder else None,
        )
        module = importlib.util.module_from_spec(spec)
        before = sys.modules.get(name)
        # a plugin may have the name of a library that is loaded: that one stays what others import
        if before is None:
            sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            if before is None:
                sys.modules.pop(name, None)
            raise
        self._note_modules()
        self._module = module


def _is_installed(file):
    return "site-packages" in file.split(os.sep)

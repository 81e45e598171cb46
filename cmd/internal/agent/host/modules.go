package host

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
)

// ModulesFile lists the kernel's modules that a machine's first process loads: a path
// in a line, each after what it needs. `ingot image build enroll` makes it.
const ModulesFile = "etc/ingot/modules"

// LoadModules loads the modules that root lists, in their order, by load (Insert). It
// may be called again: one that is loaded is no failure, nor is one whose device the
// machine does not have, nor that nothing is listed. It goes on after a failure, which
// is logged; the error has them all.
func LoadModules(root fs.FS, load func(fs.File) error, log *slog.Logger) error {
	list, err := fs.ReadFile(root, ModulesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("host: no module is loaded: %w", err)
	}
	var errs []error
	loaded := 0
	for name := range strings.FieldsSeq(string(list)) {
		if err := loadModule(root, name, load); err != nil {
			log.Warn("a module is not loaded", "module", name, "error", err)
			errs = append(errs, fmt.Errorf("host: the module %s is not loaded: %w", name, err))
			continue
		}
		loaded++
	}
	log.Info("modules are loaded", "loaded", loaded, "failed", len(errs))
	return errors.Join(errs...)
}

func loadModule(root fs.FS, name string, load func(fs.File) error) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(load(f), f.Close())
}

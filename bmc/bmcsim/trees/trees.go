// Package trees holds recorded Redfish resources of eighteen machines. A program that
// does not import it does not carry them.
//
// The README beside it says where each comes from, under which licence, and what was
// left out.
package trees

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
)

//go:embed data/*.json.gz
var files embed.FS

const ending = ".json.gz"

// Names returns the names of all trees, sorted, such as "dell-r750-idrac9-6.00".
func Names() []string {
	list, err := files.ReadDir("data")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	names := make([]string, 0, len(list))
	for _, f := range list {
		names = append(names, strings.TrimSuffix(f.Name(), ending))
	}
	slices.Sort(names)
	return names
}

// An Unknown says that no tree has this name.
type Unknown struct{ Name string }

// Error names the trees that there are.
func (e *Unknown) Error() string {
	return fmt.Sprintf("trees: no tree is named %q; known: %s", e.Name, strings.Join(Names(), ", "))
}

// Code is the error's wire name.
func (*Unknown) Code() string { return "NOT_FOUND" }

// Read returns a tree as JSON: an object of resources by their path, and _meta about
// where they come from. The error is an *[Unknown].
func Read(name string) ([]byte, error) {
	if strings.ContainsAny(name, `/\`) {
		return nil, &Unknown{name}
	}
	packed, err := files.ReadFile("data/" + name + ending)
	if err != nil {
		return nil, &Unknown{name}
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("trees: %s: %w", name, err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("trees: %s: %w", name, err)
	}
	return raw, nil
}

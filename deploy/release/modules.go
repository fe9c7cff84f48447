package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"strings"
)

// builtFrom is what the Go toolchain recorded in a program.
type builtFrom struct {
	// goVersion is a version such as 1.26.8.
	goVersion string
	modules   []module
}

type module struct {
	path, version string
	// h1 is the hash in go.sum, in hexadecimal.
	h1 string
}

// purl returns the package URL of the module.
func (m module) purl() string {
	return "pkg:golang/" + m.path + "@" + strings.ReplaceAll(m.version, "+", "%2B")
}

// inspected returns what a program was built from.
func inspected(program string) (builtFrom, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return builtFrom{}, err
	}
	from := builtFrom{goVersion: strings.TrimPrefix(info.GoVersion, "go")}
	for _, dep := range info.Deps {
		m, err := moduleOf(dep)
		if err != nil {
			return builtFrom{}, fmt.Errorf("read the modules of %s: %w", program, err)
		}
		from.modules = append(from.modules, m)
	}
	return from, nil
}

// moduleOf returns the module that a dependency was built from: its replacement, if it has one.
func moduleOf(dep *debug.Module) (module, error) {
	if dep.Replace != nil {
		dep = dep.Replace
	}
	encoded, ok := strings.CutPrefix(dep.Sum, "h1:")
	sum, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil {
		return module{}, fmt.Errorf("the module %s has the sum %q, which is not one of go.sum", dep.Path, dep.Sum)
	}
	return module{path: dep.Path, version: dep.Version, h1: hex.EncodeToString(sum)}, nil
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxCLI is the maximum size of resizectl in bytes, which users download.
const maxCLI = 60_000_000

// archive returns the name of the archive for a platform.
func (r *release) archive(platform string) string {
	return fmt.Sprintf("workload-resizer_%s_%s.tar.gz", r.version, strings.ReplaceAll(platform, "/", "_"))
}

// writeArchives writes an archive per platform, with its programs. The kubectl plugin is resizectl
// under another name, but no link in the archive: krew cannot unpack links. The script is what kubectl
// runs to complete the arguments of the plugin.
func (r *release) writeArchives() error {
	for _, platform := range r.platforms {
		all, err := r.contents(platform)
		if err != nil {
			return err
		}
		packed, err := r.tarred(all)
		if err != nil {
			return err
		}
		if packed, err = gzipped(packed); err != nil {
			return err
		}
		if err := r.add(r.archive(platform), packed); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) contents(platform string) ([]entry, error) {
	var all []entry
	for _, file := range []struct {
		path string
		mode int64
	}{{"LICENSE", 0o644}, {"README.md", 0o644}, {"cmd/resizectl/kubectl_complete-workload_resizer", 0o755}} {
		content, err := os.ReadFile(filepath.Join(r.source, file.path))
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name: filepath.Base(file.path), mode: file.mode, content: content})
	}
	for _, program := range programsOn(platform) {
		content, err := os.ReadFile(r.program(program, platform))
		if err != nil {
			return nil, err
		}
		if program == "resizectl" && len(content) > maxCLI {
			return nil, fmt.Errorf("resizectl for %s has %.1f MB, but must not have more than %d MB: find what it imports with \"go version -m\" and \"go list -deps\"", platform, float64(len(content))/1e6, maxCLI/1_000_000)
		}
		all = append(all, entry{name: program, mode: 0o755, content: content})
	}
	return all, nil
}

// programsOn returns the programs for a platform. Servers run on Linux only.
func programsOn(platform string) []string {
	if strings.HasPrefix(platform, "linux/") {
		return []string{"resizectl", "workload-resizer"}
	}
	return []string{"resizectl"}
}

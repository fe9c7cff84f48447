package plans

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

// manifestExtensions are the extensions of the files to read in a directory.
var manifestExtensions = []string{".yaml", ".yml", ".json"}

// read joins all files, in the order in which they were named, as documents of one
// manifest.
func (m *manifestSource) read(ctx context.Context, in io.Reader) (string, error) {
	var documents []string
	for _, named := range m.files {
		if named == "-" {
			text, err := command.ReadInput(ctx, in)
			if err != nil {
				return "", fmt.Errorf("read the manifest from standard input: %w", err)
			}
			if err := checkText("standard input", text); err != nil {
				return "", err
			}
			documents = append(documents, string(text))
			continue
		}
		files, err := manifestsAt(named)
		if err != nil {
			return "", err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return "", fmt.Errorf("read the manifest: %w", err)
			}
			if err := checkText(file, text); err != nil {
				return "", err
			}
			documents = append(documents, string(text))
		}
	}
	if strings.TrimSpace(strings.Join(documents, "")) == "" {
		return "", fmt.Errorf("read the manifest: nothing found in %s", strings.Join(m.files, ", "))
	}
	return strings.Join(documents, "\n---\n"), nil
}

func checkText(name string, text []byte) error {
	if !utf8.Valid(text) {
		return fmt.Errorf("read the manifest: %s is not UTF-8 text", name)
	}
	return nil
}

// manifestsAt returns the manifests in a directory, by name, without its subdirectories; or
// the file itself.
func manifestsAt(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("read the manifests: %w", err)
	}
	var files []string
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains(manifestExtensions, filepath.Ext(entry.Name())) {
			files = append(files, filepath.Join(path, entry.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read the manifests: no *.yaml, *.yml or *.json found in %s", path)
	}
	return files, nil
}

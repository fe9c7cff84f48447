package plans

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/server/manifests"
)

// manifestExtensions are the extensions of the files to read in a directory.
var manifestExtensions = []string{".yaml", ".yml", ".json"}

// manifestFile is the text of a file, or of standard input.
type manifestFile struct{ name, text string }

// manifestFiles are the files of one manifest.
type manifestFiles []manifestFile

// read reads all files, in the order in which they were named.
func (m *manifestSource) read(ctx context.Context, in io.Reader) (manifestFiles, error) {
	var all manifestFiles
	for _, named := range m.files {
		files, err := manifestsAt(named)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := file.Read(ctx, in)
			if err != nil {
				return nil, fmt.Errorf("read the manifest: %w", err)
			}
			all = append(all, manifestFile{file.String(), string(text)})
		}
	}
	if !slices.ContainsFunc(all, func(f manifestFile) bool { return strings.TrimSpace(f.text) != "" }) {
		return nil, fmt.Errorf("read the manifest: nothing found in %s: name a file with an object", all)
	}
	return all, all.checkSize()
}

// checkSize returns an error if the files are more than a server accepts.
func (f manifestFiles) checkSize() error {
	size := len(f.text())
	switch {
	case size <= client.MaxManifestBytes:
		return nil
	case len(f) == 1:
		return fmt.Errorf("%s has %d bytes, but a manifest can have at most %d (1 MiB): split it into files, and plan them one at a time", f[0].name, size, client.MaxManifestBytes)
	}
	return fmt.Errorf("the %d files have %d bytes together, but a manifest can have at most %d (1 MiB): plan fewer files at a time", len(f), size, client.MaxManifestBytes)
}

// String names the files.
func (f manifestFiles) String() string {
	return strings.Join(print.Each(f, func(file manifestFile) string { return file.name }), ", ")
}

// text joins the files as documents of one manifest.
func (f manifestFiles) text() string {
	return manifests.Shorten(strings.Join(print.Each(f, func(file manifestFile) string { return file.text }), "\n---\n"))
}

// at returns which file has a line of the text, and the line in that file. The line between two
// files begins a document of the second one.
func (f manifestFiles) at(line int) (name string, inFile int) {
	begin := 1
	for i, file := range f {
		next := begin + strings.Count(file.text, "\n") + 2
		if i == len(f)-1 || line < next-1 {
			return file.name, max(1, line-begin+1)
		}
		begin = next
	}
	return "", 0
}

var (
	// documentFault is how a server begins a fault of one document.
	documentFault = regexp.MustCompile(`^document \d+ \(line (\d+)\): `)
	yamlLine      = regexp.MustCompile(`\bline (\d+)`)
)

// explain returns an error of a server with the name and the lines of the file that it is about.
func (f manifestFiles) explain(err error) error {
	for _, detail := range status.Convert(err).Details() {
		request, _ := detail.(*errdetails.BadRequest)
		for _, violation := range request.GetFieldViolations() {
			fault := violation.GetDescription()
			match := documentFault.FindStringSubmatch(fault)
			if violation.GetField() != "manifest" {
				continue
			}
			if match == nil {
				return fmt.Errorf("%s %s", f, fault)
			}
			name, line := f.at(lineNumber(match[1]))
			fault = strings.TrimPrefix(fault, match[0])
			if !strings.HasPrefix(fault, "yaml: ") {
				return fmt.Errorf("%s (line %d): %s", name, line, fault)
			}
			return fmt.Errorf("%s: %s", name, yamlLine.ReplaceAllStringFunc(fault, func(found string) string {
				_, line := f.at(lineNumber(strings.TrimPrefix(found, "line ")))
				return fmt.Sprintf("line %d", line)
			}))
		}
	}
	return err
}

// lineNumber returns the value of digits; 0 if there are too many.
func lineNumber(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// manifestsAt returns the manifests in a directory, by name, without its subdirectories; or else the
// source itself.
func manifestsAt(path string) ([]command.Source, error) {
	// If there is no such file, reading it fails later, with an error that says so.
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []command.Source{command.Source(path)}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, command.FileError(path, err)
	}
	var files []command.Source
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains(manifestExtensions, filepath.Ext(entry.Name())) {
			files = append(files, command.Source(filepath.Join(path, entry.Name())))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read the manifests: no *.yaml, *.yml or *.json found in %s: name a file or another directory", path)
	}
	return files, nil
}

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// unpack writes the files in a compressed tar to a folder.
func unpack(t *testing.T, content []byte, dir string) {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	untar(t, unpacked, dir)
}

func untar(t *testing.T, from io.Reader, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(from); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		to, err := os.OpenFile(filepath.Join(dir, header.Name), os.O_CREATE|os.O_WRONLY, header.FileInfo().Mode())
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(to, r)
		if err := errors.Join(err, to.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// checkStatic checks that a program is static and stripped.
func checkStatic(t *testing.T, program string) {
	t.Helper()
	format, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer format.Close()
	for _, segment := range format.Progs {
		if segment.Type == elf.PT_INTERP {
			t.Errorf("%s needs a dynamic linker", program)
		}
	}
	if libraries, err := format.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("%s needs %v, %v", program, libraries, err)
	}
	if format.Section(".symtab") != nil || format.Section(".debug_info") != nil {
		t.Errorf("%s is not stripped", program)
	}
}

// alone returns what the server of an image prints as its version, without an environment. If the
// test runs as root, the server also gets an empty root directory and the image's user; other
// users may not change these.
func alone(t *testing.T, index v1.ImageIndex) string {
	t.Helper()
	manifests, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	image, err := index.Image(manifests.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	content := mutate.Extract(image)
	defer content.Close()
	root := t.TempDir()
	untar(t, content, root)
	command := exec.CommandContext(t.Context(), filepath.Join(root, entrypoint), "version")
	command.Env = []string{}
	if os.Getuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		command.Path, command.Dir = entrypoint, "/"
	}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("run the server: %v\n%s", err, out)
	}
	return string(out)
}

package main

import (
	"archive/tar"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// makeImage runs make image in the repository at root, for all platforms. It returns the digest
// that make printed, and the path of the tar.
func makeImage(t *testing.T, root string) (printed, file string) {
	t.Helper()
	dist := t.TempDir()
	command := exec.Command("make", "--no-print-directory", "image", "DIST="+dist)
	command.Dir = root
	// If make runs this test, its settings must not affect the inner make.
	command.Env = append(os.Environ(), "PWD="+root, "MAKEFLAGS=", "MAKELEVEL=")
	var said strings.Builder
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		t.Fatalf("make image: %v\n%s%s", err, out, said.String())
	}
	_, digest, ok := strings.Cut(strings.TrimSpace(string(out)), "@")
	if !ok {
		t.Fatalf("make image printed no digest: %s", out)
	}
	return digest, filepath.Join(dist, "workload-resizer-image.tar")
}

// extracted returns the binary of an image for an architecture.
func extracted(t *testing.T, file, architecture string) string {
	t.Helper()
	tag, err := name.NewTag("workload-resizer:latest-" + architecture)
	if err != nil {
		t.Fatal(err)
	}
	image, err := tarball.ImageFromPath(file, &tag)
	if err != nil {
		t.Fatal(err)
	}
	content := mutate.Extract(image)
	defer content.Close()
	r := tar.NewReader(content)
	header, err := r.Next()
	if err != nil || header.Name != entrypoint[1:] {
		t.Fatalf("the first file of the image is %v, %v", header, err)
	}
	binary := filepath.Join(t.TempDir(), header.Name)
	to, err := os.OpenFile(binary, os.O_CREATE|os.O_WRONLY, header.FileInfo().Mode())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, r); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return binary
}

func TestBinary(t *testing.T) {
	t.Run("the binary is static and reproducible and runs", theBinaryIsStaticAndReproducibleAndRuns)
}

func theBinaryIsStaticAndReproducibleAndRuns(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	digest, file := makeImage(t, root)
	for architecture, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		t.Run(architecture, func(t *testing.T) { checkStatic(t, extracted(t, file, architecture), machine) })
	}
	binary := extracted(t, file, runtime.GOARCH)
	// Without an environment. If the test runs as root, the binary also gets an empty root
	// directory and the image's user; other users may not change these.
	command := exec.Command(binary, "version")
	command.Env = []string{}
	confine(command)
	version, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("run the binary: %v\n%s", err, version)
	}
	want, err := exec.Command("git", "-C", root, "describe", "--always", "--dirty", "--abbrev=12").Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(version) != string(want) {
		t.Errorf("got version %q, want %q", version, want)
	}

	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Symlink(root, elsewhere); err != nil {
		t.Fatal(err)
	}
	if again, _ := makeImage(t, elsewhere); again != digest {
		t.Errorf("the digest from another directory is %s, want %s", again, digest)
	}
}

// checkStatic checks that a binary is for a machine, and is static and stripped.
func checkStatic(t *testing.T, binary string, machine elf.Machine) {
	format, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer format.Close()
	if format.Machine != machine {
		t.Errorf("the binary is for %v", format.Machine)
	}
	for _, segment := range format.Progs {
		if segment.Type == elf.PT_INTERP {
			t.Error("the binary needs a dynamic linker")
		}
	}
	if libraries, err := format.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("the binary needs %v, %v", libraries, err)
	}
	if format.Section(".symtab") != nil || format.Section(".debug_info") != nil {
		t.Error("the binary is not stripped")
	}
}

// confine makes a binary run as it does in the image, if this user is allowed to do that.
func confine(command *exec.Cmd) {
	if os.Getuid() != 0 {
		return
	}
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: filepath.Dir(command.Path), Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	command.Path, command.Dir = entrypoint, "/"
}

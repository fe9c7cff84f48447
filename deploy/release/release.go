package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"golang.org/x/mod/semver"
)

const repository = "https://github.com/workload-resizer/workload-resizer"

// release describes a release, and collects its files while it writes them.
type release struct {
	// version is a semantic version such as v1.2.3.
	version, commit string
	// created is the only time in the release.
	created time.Time
	// name is the name of the image once it is loaded.
	name                     name.Tag
	platforms                []string
	programs, source, output string

	files []artifact
}

// artifact is a file of the release.
type artifact struct{ name, sha256 string }

// program returns the path of a program for a platform such as linux/amd64.
func (r *release) program(name, platform string) string {
	return filepath.Join(r.programs, strings.ReplaceAll(platform, "/", "-"), name)
}

// platformsOf returns the platforms of an operating system.
func (r *release) platformsOf(system string) (all []string) {
	for _, platform := range r.platforms {
		if strings.HasPrefix(platform, system+"/") {
			all = append(all, platform)
		}
	}
	return all
}

// write writes all files of the release. Those that contain the checksums of others follow them.
func (r *release) write() error {
	if !semver.IsValid(r.version) || semver.Canonical(r.version) != r.version {
		return fmt.Errorf("the version %q is not a semantic version such as v1.2.3: tag the commit, or set VERSION", r.version)
	}
	if len(r.platformsOf("linux")) == 0 {
		return fmt.Errorf("the platforms %v do not include linux, which the image needs", r.platforms)
	}
	if err := os.MkdirAll(r.output, 0o755); err != nil {
		return fmt.Errorf("create the folder of the release: %w", err)
	}
	for _, step := range []struct {
		what  string
		write func() error
	}{
		{"archives", r.writeArchives},
		{"SBOMs", r.writeSBOMs},
		{"image", r.writeImage},
		{"chart", r.writeChart},
		{"krew manifest", r.writeKrewManifest},
		{"provenance", r.writeProvenance},
		{"checksums", r.writeChecksums},
	} {
		if err := step.write(); err != nil {
			return fmt.Errorf("write the %s: %w", step.what, err)
		}
	}
	_, err := fmt.Printf("wrote %s; its checksums and provenance are not signed\n", r.output)
	return err
}

// add writes a file of the release and prints its size.
func (r *release) add(name string, content []byte) error {
	sum := sha256.Sum256(content)
	if err := os.WriteFile(filepath.Join(r.output, name), content, 0o644); err != nil {
		return err
	}
	fmt.Printf("%9.1f kB  %s\n", float64(len(content))/1e3, name)
	r.files = append(r.files, artifact{name: name, sha256: hex.EncodeToString(sum[:])})
	return nil
}

// writeChecksums writes the checksums of all other files, as sha256sum does.
func (r *release) writeChecksums() error {
	var lines strings.Builder
	for _, f := range r.files {
		fmt.Fprintf(&lines, "%s  %s\n", f.sha256, f.name)
	}
	return r.add("SHA256SUMS", []byte(lines.String()))
}

package version

import "runtime/debug"

// version and commit are set by the linker: see LDFLAGS in the Makefile, and the Dockerfile.
var version, commit string

// Build is what a program was built from.
type Build struct {
	// Version is a release such as v1.2.3, or names the state of a checkout.
	Version string
	// Commit is empty if it is unknown: a module that Go downloads does not contain its commit.
	Commit string
}

// Read returns what this program was built from.
func Read() Build {
	info, _ := debug.ReadBuildInfo()
	return Build{Version: version, Commit: commit}.orElse(info)
}

// orElse completes what was linked with what the Go toolchain recorded. For "go install" with a
// version, that is the version; in a git checkout, a version from its tags, and the commit.
func (b Build) orElse(info *debug.BuildInfo) Build {
	if b.Version == "" && info != nil && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	if b.Version == "" {
		b.Version = "development"
	}
	if b.Commit == "" && info != nil {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				b.Commit = setting.Value
			}
		}
	}
	return b
}

// String returns both for people.
func (b Build) String() string {
	if b.Commit == "" {
		return b.Version
	}
	return b.Version + " (commit " + b.Commit + ")"
}

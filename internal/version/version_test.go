package version

import (
	"runtime/debug"
	"testing"
)

func TestRead(t *testing.T) {
	const linked, stamped = "0123456789abcdef0123456789abcdef01234567", "89abcdef0123456789abcdef0123456789abcdef"
	installed := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.4"}}
	checkout := &debug.BuildInfo{
		Main:     debug.Module{Version: "v1.2.5-0.20260102030405-89abcdef0123+dirty"},
		Settings: []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: stamped}, {Key: "vcs.modified", Value: "true"}},
	}
	plain := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}
	for _, tc := range []struct {
		name  string
		build Build
		info  *debug.BuildInfo
		want  string
	}{
		{"a release has what was linked", Build{"v1.2.3", linked}, plain, "v1.2.3 (commit " + linked + ")"},
		{"what was linked takes precedence", Build{"v1.2.3", linked}, checkout, "v1.2.3 (commit " + linked + ")"},
		{"an image without a commit has the version", Build{Version: "v1.2.3"}, plain, "v1.2.3"},
		{"an installed module has its version", Build{}, installed, "v1.2.4"},
		{"a checkout has the version that Go derives, and its commit", Build{}, checkout, "v1.2.5-0.20260102030405-89abcdef0123+dirty (commit " + stamped + ")"},
		{"a build without version control is a development build", Build{}, plain, "development"},
		{"a program without build information is a development build", Build{}, nil, "development"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.build.orElse(tc.info).String(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	if got := Read(); got.Version == "" {
		t.Errorf("this program has no version: %+v", got)
	}
}

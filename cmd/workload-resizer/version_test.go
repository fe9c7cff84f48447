package main

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/internal/version"
)

func TestVersion(t *testing.T) {
	was := build
	build = version.Build{Version: "v1.2.3", Commit: "0123abc"}
	t.Cleanup(func() { build = was })
	for _, arg := range []string{"version", "--version"} {
		var out strings.Builder
		cmd := newCommand()
		cmd.SetOut(&out)
		cmd.SetArgs([]string{arg})
		if err := cmd.ExecuteContext(t.Context()); err != nil || out.String() != "v1.2.3 (commit 0123abc)\n" {
			t.Errorf("%s: %v, %q", arg, err, out.String())
		}
	}
}

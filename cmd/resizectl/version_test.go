package main

import (
	"runtime"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/internal/version"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestVersion(t *testing.T) {
	was := build
	build = version.Build{Version: "v1.2.3", Commit: "0123abc"}
	t.Cleanup(func() { build = was })
	server := cmdtest.Answering(cmdtest.Returns(&workloadresizerv1.GetStatusResponse{Version: "v1.2.0"}))
	address, none := server.Serve(t), cmdtest.Nobody(t)
	platform := runtime.GOOS + "/" + runtime.GOARCH
	ours := "resizectl v1.2.3 (commit 0123abc) " + runtime.Version() + " " + platform + "\n"
	ourYAML := "clientVersion:\n  commit: 0123abc\n  goVersion: " + runtime.Version() + "\n  platform: " + platform + "\n  version: v1.2.3\n"
	for _, tc := range []struct {
		name, want string
		args       []string
	}{
		{"both versions", ours + "server    v1.2.0\n", []string{"version", "--server", address}},
		{"only the client's version on request", ours, []string{"version", "--client", "--server", address}},
		{"only the client's version if no server answers", ours, []string{"version", "--server", none}},
		{"as YAML", ourYAML + "serverVersion: v1.2.0\n", []string{"version", "-o", "yaml", "--server", address}},
		{"as JSON", "{\n  \"clientVersion\": {\n    \"version\": \"v1.2.3\",\n    \"commit\": \"0123abc\",\n    \"goVersion\": \"" + runtime.Version() + "\",\n    \"platform\": \"" + platform + "\"\n  }\n}\n",
			[]string{"version", "-o", "json", "--client"}},
		{"with the flag", "v1.2.3 (commit 0123abc)\n", []string{"--version"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), tc.args...)
			if code != command.ExitOK || stdout != tc.want || stderr != "" {
				t.Errorf("exit %d, stderr %q, stdout\n%s\nwant\n%s", code, stderr, stdout, tc.want)
			}
		})
	}
}

package benchmarks

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const failingFeed = "warning: feed nightly: open /feeds/nightly.json: no such file or directory (its copy of 2026-11-21T01:02:03Z stays in use)\n"

func TestBenchmarkFeeds(t *testing.T) {
	address := suggesting().Serve(t)
	for _, output := range print.Formats {
		code, stdout, stderr := program.Shell(t.Context(), "benchmark", "feeds", "--server", address, "-o", output)
		if code != command.ExitOK || stderr != failingFeed {
			t.Errorf("-o %s: exit %d, stderr %q", output, code, stderr)
		}
		cmdtest.Golden(t, "feeds."+output, stdout)
	}
	_, stdout, _ := program.Shell(t.Context(), "benchmark", "feeds", "--server", address, "--color", "always")
	cmdtest.Golden(t, "feeds.color", stdout)
}

func TestFeeds(t *testing.T) {
	t.Run("shows one feed", showsOneFeed)
	t.Run("says that there are no feeds", saysThatThereAreNoFeeds)
	t.Run("warns of rejected settings", warnsOfRejectedSettings)
}

func showsOneFeed(t *testing.T) {
	address := suggesting().Serve(t)
	code, stdout, stderr := program.Shell(t.Context(), "benchmark", "feeds", "coremark-table", "--server", address)
	if code != command.ExitOK || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	cmdtest.Golden(t, "feeds-one.table", stdout)
	if _, stdout, stderr = program.Shell(t.Context(), "benchmark", "feeds", "nightly", "--server", address, "-o", "json"); stderr != failingFeed {
		t.Errorf("stderr %q", stderr)
	}
	cmdtest.Golden(t, "feeds-one.json", stdout)
	const unknown = "error: the server reads no feed \"passmark\"; \"resizectl benchmark feeds\" lists the feeds that it reads\n"
	if code, stdout, stderr = program.Shell(t.Context(), "benchmark", "feeds", "passmark", "--server", address); code != command.ExitError || stdout != "" || stderr != unknown {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func saysThatThereAreNoFeeds(t *testing.T) {
	code, stdout, stderr := program.Shell(t.Context(), "benchmark", "feeds", "--server", cmdtest.Answering().Serve(t))
	if code != command.ExitOK || stdout != "" || stderr != "the server reads no feeds: its benchmark settings name none\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// Users with a mistake in the settings look at the feeds, and do not find theirs.
func warnsOfRejectedSettings(t *testing.T) {
	server := cmdtest.Answering(cmdtest.Returns(&workloadresizerv1.ListRatiosResponse{Sources: []*workloadresizerv1.RatioSource{
		{Name: "configmap", Message: "is another matter"}, {Name: "benchmark", Message: "benchmarks.yaml: feeds[0].format: want samples"},
	}}))
	code, stdout, stderr := program.Shell(t.Context(), "benchmark", "feeds", "--server", server.Serve(t))
	const want = "the server reads no feeds: its benchmark settings name none\n" +
		"warning: source benchmark is not healthy: benchmarks.yaml: feeds[0].format: want samples (no good state yet)\n"
	if code != command.ExitOK || stdout != "" || stderr != want {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

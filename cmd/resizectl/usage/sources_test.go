package usage

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const sourceWarnings = "warning: source metrics.k8s.io: read usage from metrics.k8s.io: the server could not find [31m the requested resource (get pods.metrics.k8s.io); " +
	"install metrics-server, or start the server without metrics in --usage-sources\n" +
	"warning: storage: ConfigMap workload-resizer-system/workload-resizer-usage-1 cannot be read: it is damaged: replace it with a backup, or delete it\n"

func TestSources(t *testing.T) {
	address := collected().serve(t)
	for _, output := range append([]string{"name", "custom-columns=NAME:.name,COUNTED:.counted"}, print.Formats...) {
		code, stdout, stderr := program.Shell(t.Context(), "usage", "sources", "--server", address, "-o", output)
		if code != command.ExitOK || stderr != sourceWarnings {
			t.Errorf("-o %s: exit %d, stderr %q", output, code, stderr)
		}
		if output[0] == 'c' {
			output = "columns"
		}
		cmdtest.Golden(t, "sources."+output, stdout)
	}
	_, stdout, _ := program.Shell(t.Context(), "usage", "sources", "--server", address, "--color", "always", "-o", "wide", "--sort-by", ".name")
	cmdtest.Golden(t, "sources.color", stdout)
}

func TestSourcesRules(t *testing.T) {
	t.Run("says that history is only in memory, and that this replica does not collect", saysThatHistoryIsOnlyInMemory)
	t.Run("says which source has no reports or samples, or none lately", saysWhichSourceIsSilent)
	t.Run("shows no progress of a first read that is done", showsNoProgressOfAFirstReadThatIsDone)
	t.Run("knows what to do about what is wrong", knowsWhatToDoAboutWhatIsWrong)
}

func saysThatHistoryIsOnlyInMemory(t *testing.T) {
	server := cmdtest.Answering(cmdtest.Returns(&workloadresizerv1.GetUsageStatusResponse{Sources: usageSources().GetSources()[:1], Containers: 1}))
	code, stdout, stderr := program.Shell(t.Context(), "usage", "sources", "--server", server.Serve(t), "-o", "wide")
	const note = "note: the replica that answers does not lead, or has not read the stored history yet, so it reads no source; \"resizectl status\" shows which replica leads\n"
	if code != command.ExitOK || stderr != note {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	cmdtest.Golden(t, "sources-memory.wide", stdout)
}

func saysWhichSourceIsSilent(t *testing.T) {
	at := func(ago time.Duration) *timestamppb.Timestamp {
		return timestamppb.New(cmdtest.Since.Add(-ago))
	}
	source := func(name string, samples *timestamppb.Timestamp) *workloadresizerv1.UsageSource {
		return &workloadresizerv1.UsageSource{Name: name, ReadTime: at(0), SampleTime: samples}
	}
	failing, backfill := source("push", nil), source("prometheus", nil)
	failing.Message, backfill.BackfillProgress = "no", new(0.5)
	for _, tc := range []struct {
		source     *workloadresizerv1.UsageSource
		collecting bool
		want       string
	}{
		{source("push", nil), true, "no reports"},
		{source("push", at(time.Minute)), true, "good"},
		{source("push", at(16*time.Minute)), true, "silent"},
		{source("push", nil), false, "not read"},
		{source("metrics.k8s.io", nil), true, "no samples"},
		{source("metrics.k8s.io", at(15*time.Minute)), true, "good"},
		{&workloadresizerv1.UsageSource{Name: "push"}, true, "not read"},
		{failing, false, "failing"},
		{backfill, true, "backfill"},
	} {
		if got := sourceState(tc.source, tc.collecting).Text; got != tc.want {
			t.Errorf("%v, collecting %t: %q, want %q", tc.source, tc.collecting, got, tc.want)
		}
	}
	status := &workloadresizerv1.GetUsageStatusResponse{Sources: []*workloadresizerv1.UsageSource{source("push", nil)}, Collecting: true}
	server := cmdtest.Answering(cmdtest.Returns(status))
	_, _, stderr := program.Shell(t.Context(), "usage", "sources", "--server", server.Serve(t))
	if want := "note: nobody has reported usage to the source push: without node agents that report, remove push from --usage-sources of the server, or add the agents (docs/reference/node-agents.md#usage)\n"; stderr != want {
		t.Errorf("stderr %q, want %q", stderr, want)
	}
}

func showsNoProgressOfAFirstReadThatIsDone(t *testing.T) {
	for progress, want := range map[float64]string{0: "0%", 0.375: "37%", 0.999: "99%", 0.9999999: "99%", 1: "-"} {
		if got := backfillText(&workloadresizerv1.UsageSource{BackfillProgress: proto.Float64(progress)}); got != want {
			t.Errorf("%v is %q, want %q", progress, got, want)
		}
	}
	if got := backfillText(&workloadresizerv1.UsageSource{}); got != "-" {
		t.Errorf("no progress is %q", got)
	}
}

func knowsWhatToDoAboutWhatIsWrong(t *testing.T) {
	for _, tc := range []struct{ source, message, remedy string }{
		{"metrics.k8s.io", "list the metrics of namespace shop: pods.metrics.k8s.io is forbidden: User cannot list", "apply the manifests of this version again: they give the server its rights (docs/tasks/install.md)"},
		{"metrics.k8s.io", "the server is currently unable to handle the request (get pods.metrics.k8s.io)", "see why metrics-server does not answer: kubectl describe apiservice v1beta1.metrics.k8s.io"},
		{"prometheus", "query x: Post http://prometheus:9090: dial tcp: lookup prometheus: no such host", "check --usage-prometheus-url of the server"},
		{"prometheus", "query x: client error: 401", "check the password in --usage-prometheus-url of the server, or its --usage-prometheus-token-file"},
		{"prometheus", "the answer is larger than 64 MiB", ""},
		{"push", "could not find", ""},
	} {
		found := print.UsageProblems(&workloadresizerv1.GetUsageStatusResponse{Sources: []*workloadresizerv1.UsageSource{{Name: tc.source, Message: tc.message}}})
		if len(found) != 1 || found[0].Message != "source "+tc.source+": "+tc.message || found[0].Remedy != tc.remedy {
			t.Errorf("%+v", found)
		}
	}
}

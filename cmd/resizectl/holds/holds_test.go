package holds

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestHolds(t *testing.T) {
	address := holding{holds: cmdtest.Held()}.serve(t)
	for _, output := range print.Formats {
		code, stdout, stderr := program.Shell(t.Context(), "holds", "--server", address, "-o", output)
		if code != command.ExitOK || stderr != "" {
			t.Errorf("exit %d, stderr %q", code, stderr)
		}
		cmdtest.Golden(t, "holds."+output, stdout)
	}
}

func TestHoldsRules(t *testing.T) {
	t.Run("says that there are no holds", saysThatThereAreNoHolds)
	t.Run("shows that a restore is an emergency", showsThatARestoreIsAnEmergency)
	t.Run("warns that the holds are not current", warnsThatTheHoldsAreNotCurrent)
	t.Run("reports unexpected results on standard error", reportsUnexpectedResultsOnStandardError)
	t.Run("rejects unknown kinds", rejectsUnknownKinds)
	t.Run("never guesses which pods to change", neverGuessesWhichPodsToChange)
	t.Run("lists the holds of a namespace", listsTheHoldsOfANamespace)
}

func saysThatThereAreNoHolds(t *testing.T) {
	code, stdout, stderr := program.Shell(t.Context(), "holds", "--server", holding{}.serve(t))
	if code != command.ExitOK || stdout != "" || stderr != "nothing is restored, paused or degraded\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func showsThatARestoreIsAnEmergency(t *testing.T) {
	emergency := cmdtest.Stored(workloadresizerv1.HoldKind_HOLD_KIND_RESTORE, cmdtest.Shop, "worse", nil)
	emergency.Emergency = true
	address := holding{holds: []*workloadresizerv1.Hold{emergency}}.serve(t)
	for args, want := range map[string]string{
		"holds":          "emergency restore",
		"resume -n shop": "emergency restore of namespace shop has ended\n",
	} {
		code, stdout, stderr := program.Shell(t.Context(), append(strings.Fields(args), "--server", address)...)
		if code != command.ExitOK || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
}

func warnsThatTheHoldsAreNotCurrent(t *testing.T) {
	code, stdout, stderr := program.Shell(t.Context(), "holds", "--server", holding{holds: cmdtest.Held(), problem: "holds[0].kind:\x1b bad"}.serve(t))
	if code != command.ExitOK || stdout == "" || stderr != "warning: these are the last holds that could be read: holds[0].kind:  bad\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestPause(t *testing.T) {
	server := holding{}.server()
	address := server.Serve(t)
	for _, tc := range []struct {
		golden string
		args   []string
		asked  *workloadresizerv1.PauseRequest
	}{
		{"pause-pod.table", []string{"web"}, &workloadresizerv1.PauseRequest{Scope: cmdtest.PodScope("default", "web")}},
		{"pause-pod-of.table", []string{"cart-0", "-n", "shop"}, &workloadresizerv1.PauseRequest{Scope: cmdtest.Cart}},
		{"pause-pod-of.table", []string{"pod/cart-0", "-n", "shop"}, &workloadresizerv1.PauseRequest{Scope: cmdtest.Cart}},
		{"pause-workload.table", []string{"statefulset/cart", "-n", "shop"}, &workloadresizerv1.PauseRequest{Scope: cmdtest.Carts}},
		{"pause-workload.table", []string{"sts", "cart", "-n", "shop"}, &workloadresizerv1.PauseRequest{Scope: cmdtest.Carts}},
		{"pause-namespace.table", []string{"-n", "shop", "--for", "2h", "--reason", "load test"}, &workloadresizerv1.PauseRequest{Scope: cmdtest.Shop, Ttl: durationpb.New(2 * time.Hour), Reason: "load test"}},
		{"pause-all-for.table", []string{"-A", "--yes", "--for", "1m30s400ms"}, &workloadresizerv1.PauseRequest{Scope: cmdtest.Everything, Ttl: durationpb.New(91 * time.Second)}},
		{"pause-all.table", []string{"-A", "--yes"}, &workloadresizerv1.PauseRequest{Scope: cmdtest.Everything}},
		{"pause-dry-run.table", []string{"-A", "--dry-run"}, &workloadresizerv1.PauseRequest{Scope: cmdtest.Everything, ValidateOnly: true}},
		{"pause.json", []string{"-n", "shop", "-o", "json"}, &workloadresizerv1.PauseRequest{Scope: cmdtest.Shop}},
		{"pause.yaml", []string{"-n", "shop", "-o", "yaml"}, &workloadresizerv1.PauseRequest{Scope: cmdtest.Shop}},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"pause", "--server", address}, tc.args...)...)
			if code != command.ExitOK || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			tc.asked.Author = connect.Author()
			if diff := cmp.Diff(proto.Message(tc.asked), server.LastRequest(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong request (-want +got):\n%s", diff)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

func TestResume(t *testing.T) {
	server := holding{holds: cmdtest.Held()}.server()
	server.Follow(cmdtest.Plans(&workloadresizerv1.PlanSummary{Pods: 4, Resize: 2, Aligned: 1, Skip: 1, RequestDelta: map[string]string{"cpu": "-400m"}, Codes: map[string]int64{"AlreadyAligned": 1, "NotOwned": 1}}))
	address := server.Serve(t)
	for _, tc := range []struct {
		golden string
		args   []string
		asked  *workloadresizerv1.ResumeRequest
	}{
		{"resume.table", []string{"-A", "--yes"}, &workloadresizerv1.ResumeRequest{Scope: cmdtest.Everything}},
		{"resume.table", []string{"-n", "shop"}, &workloadresizerv1.ResumeRequest{Scope: cmdtest.Shop}},
		{"resume.table", []string{"-n", "shop", "cart-0"}, &workloadresizerv1.ResumeRequest{Scope: cmdtest.Cart}},
		{"resume.table", []string{"-n", "shop", "sts/cart"}, &workloadresizerv1.ResumeRequest{Scope: cmdtest.Carts}},
		{"resume.table", []string{"-n", "shop", "--kind", "restore"}, &workloadresizerv1.ResumeRequest{Scope: cmdtest.Shop, Kind: workloadresizerv1.HoldKind_HOLD_KIND_RESTORE}},
		{"resume.table", []string{"-n", "shop", "--kind", "breaker"}, &workloadresizerv1.ResumeRequest{Scope: cmdtest.Shop, Kind: workloadresizerv1.HoldKind_HOLD_KIND_BREAKER}},
		{"resume.table", []string{"-n", "shop", "--kind", "pause", "--nested"}, &workloadresizerv1.ResumeRequest{Scope: cmdtest.Shop, Kind: workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, IncludeNested: true}},
		{"resume.table", []string{"-n", "shop", "--reason", "load test is over"}, &workloadresizerv1.ResumeRequest{Scope: cmdtest.Shop, Reason: "load test is over"}},
		{"resume-dry-run.table", []string{"-A", "--dry-run"}, &workloadresizerv1.ResumeRequest{Scope: cmdtest.Everything, ValidateOnly: true}},
		{"resume.json", []string{"-n", "shop", "-o", "json"}, &workloadresizerv1.ResumeRequest{Scope: cmdtest.Shop}},
		{"resume.yaml", []string{"-n", "shop", "-o", "yaml"}, &workloadresizerv1.ResumeRequest{Scope: cmdtest.Shop}},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"resume", "--server", address}, tc.args...)...)
			if code != command.ExitOK || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			tc.asked.Author = connect.Author()
			if diff := cmp.Diff(proto.Message(tc.asked), last(server.Written()), protocmp.Transform()); diff != "" {
				t.Errorf("wrong request (-want +got):\n%s", diff)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

func last[T any](all []T) T { return all[len(all)-1] }

func TestResumeOfNothing(t *testing.T) {
	code, stdout, stderr := program.Shell(t.Context(), "resume", "web", "--server", holding{}.serve(t))
	if code != command.ExitOK || stdout != "" || stderr != "nothing to resume: there is no restore, pause or open breaker of pod default/web\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func reportsUnexpectedResultsOnStandardError(t *testing.T) {
	none, nested := int64(0), int64(2)
	restore := cmdtest.Stored(workloadresizerv1.HoldKind_HOLD_KIND_RESTORE, cmdtest.Everything, "", nil)
	for _, tc := range []struct {
		name   string
		server holding
		args   []string
		want   string
	}{
		{"a pause of no pods", holding{pods: &none}, []string{"pause", "-n", "shpo"}, "warning: namespace shpo has no pods now\n"},
		{"a pause of some pods", holding{pods: &nested}, []string{"pause", "-n", "shop"}, ""},
		{"a pause of a workload without pods", holding{pods: &none}, []string{"pause", "sts/cart", "-n", "shop"}, "warning: statefulset shop/cart has no pods now\n"},
		{"a pause of an empty cluster", holding{pods: &none}, []string{"pause", "-A", "--yes"}, "warning: the cluster has no pods now\n"},
		{"a pause of restored pods", holding{wider: restore}, []string{"pause", "-n", "shop"},
			"the restore of every pod in the cluster takes precedence; the pause applies when it ends\n"},
		{"a restore of no pods", holding{pods: &none}, []string{"restore", "-n", "shpo", "--wait=false"}, "warning: namespace shpo has no pods now\n"},
		{"the end of a hold on a deleted pod", holding{pods: &none, holds: cmdtest.Held()[2:]}, []string{"resume", "cart-0", "-n", "shop"}, "warning: pod shop/cart-0 does not exist now\n"},
		{"no hold of a kind to end", holding{}, []string{"resume", "-n", "shop", "--kind", "pause"}, "nothing to resume: there is no pause of namespace shop\n"},
		{"no open breaker to reset", holding{}, []string{"resume", "-A", "--yes", "--kind", "breaker"}, "nothing to resume: there is no open breaker of every pod in the cluster\n"},
		{"several holds inside the scope", holding{holds: cmdtest.Held()[:1], nested: nested}, []string{"resume", "-n", "shop"}, "2 holds inside this scope stay in effect; --nested ends them, too\n"},
		{"one hold inside the scope", holding{holds: cmdtest.Held()[:1], nested: 1}, []string{"resume", "-A", "--yes"}, "1 hold inside this scope stays in effect; --nested ends it, too\n"},
		{"a hold of a wider scope", holding{holds: cmdtest.Held()[2:], wider: restore}, []string{"resume", "-n", "shop", "cart-0"},
			"these pods are still not resized: the restore of every pod in the cluster stays in effect\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, _, stderr := program.Shell(t.Context(), append(tc.args, "--server", tc.server.serve(t))...)
			if code != command.ExitOK || stderr != tc.want {
				t.Errorf("exit %d, stderr %q, want %q", code, stderr, tc.want)
			}
		})
	}
}

func rejectsUnknownKinds(t *testing.T) {
	for _, kind := range []string{"Pause", ""} {
		code, _, stderr := program.Shell(t.Context(), "resume", "web", "--kind", kind, "--server", cmdtest.Nobody(t))
		if code != command.ExitError || !strings.Contains(stderr, "--kind must be restore, pause or breaker, not ") {
			t.Errorf("exit %d, stderr %q", code, stderr)
		}
	}
}

// A change to every pod requires confirmation, and a change to some pods requires their names.
func neverGuessesWhichPodsToChange(t *testing.T) {
	server := holding{}.server()
	address := server.Serve(t)
	for _, verb := range []string{"restore", "pause", "resume"} {
		for _, tc := range []struct {
			name, want string
			args       []string
		}{
			{"no arguments", "name a pod, a workload (TYPE/NAME), a namespace (--namespace) or every pod (--all-namespaces)", nil},
			{"an empty pod is not every pod", "the name of the pod in \"\" is empty: name one POD, TYPE/NAME or TYPE NAME", []string{"-n", "shop", ""}},
			{"an empty namespace is not every namespace", "the namespace is empty; use --all-namespaces for every namespace", []string{"-n", ""}},
			{"a pod of all namespaces", "--all-namespaces selects every pod: use it alone, or set --namespace or name a pod instead", []string{"web", "-A", "--yes"}},
			{"a namespace and all namespaces", "--all-namespaces selects every pod: use it alone, or set --namespace or name a pod instead", []string{"-n", "shop", "-A", "--yes"}},
			{"every pod without confirmation", "--all-namespaces requires --yes if standard input is not a terminal", []string{"-A"}},
			{"two pods", "\"a\" and \"b\" are two pods: name one of them, or a workload, such as deployment/web", []string{"a", "b"}},
			{"three pods", "a b c are too many arguments: name one POD, TYPE/NAME or TYPE NAME", []string{"a", "b", "c"}},
			{"a workload without a name", "the name of the deployment in \"deployment/\" is empty: name one POD, TYPE/NAME or TYPE NAME", []string{"deployment/"}},
		} {
			t.Run(verb+" "+tc.name, func(t *testing.T) {
				code, stdout, stderr := program.Shell(t.Context(), append([]string{verb, "--server", address}, tc.args...)...)
				want := "error: " + tc.want + "; see \"resizectl " + verb + " --help\"\n"
				if code != command.ExitError || stdout != "" || stderr != want {
					t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, want)
				}
			})
		}
	}
	for _, verb := range []string{"restore", "pause"} {
		for _, ttl := range []string{"0", "-1h", "1ms"} {
			if code, _, stderr := program.Shell(t.Context(), verb, "web", "--for", ttl, "--server", address); code != command.ExitError || !strings.Contains(stderr, "is less than a second; omit it for no end") {
				t.Errorf("%s --for %s: exit %d, %s", verb, ttl, code, stderr)
			}
		}
	}
	if written := server.Written(); len(written) > 0 {
		t.Errorf("the server received %v", written)
	}
}

// --dry-run works the same everywhere, and still accepts its values as a boolean flag.
func TestDryRuns(t *testing.T) {
	server := holding{}.server()
	address := server.Serve(t)
	for flag, dry := range map[string]bool{
		"--dry-run": true, "--dry-run=server": true, "--dry-run=true": true, "--dry-run=none": false, "--dry-run=false": false,
	} {
		code, _, stderr := program.Shell(t.Context(), "pause", "web", flag, "--server", address)
		if asked := server.LastRequest().(*workloadresizerv1.PauseRequest); code != command.ExitOK || asked.GetValidateOnly() != dry {
			t.Errorf("%s: exit %d, %s, a dry run: %v", flag, code, stderr, asked.GetValidateOnly())
		}
	}
}

func listsTheHoldsOfANamespace(t *testing.T) {
	server := holding{}.server()
	address := server.Serve(t)
	for _, tc := range []struct {
		args                   []string
		namespace, wantsStderr string
	}{
		{nil, "", "nothing is restored, paused or degraded\n"},
		{[]string{"-A"}, "", "nothing is restored, paused or degraded\n"},
		{[]string{"-n", "shop"}, "shop", "nothing is restored, paused or degraded in namespace shop\n"},
		{[]string{"-n", "shop", "-A"}, "", "nothing is restored, paused or degraded\n"},
	} {
		code, _, stderr := program.Shell(t.Context(), append([]string{"holds", "--server", address}, tc.args...)...)
		asked := server.LastRequest().(*workloadresizerv1.ListHoldsRequest)
		if code != command.ExitOK || asked.GetNamespace() != tc.namespace || stderr != tc.wantsStderr {
			t.Errorf("%q: exit %d, requested %q, stderr %q", tc.args, code, asked.GetNamespace(), stderr)
		}
	}
}

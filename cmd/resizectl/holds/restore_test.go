package holds

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// restored is the plan of web after its restore.
func restored() *workloadresizerv1.Plan {
	plan := cmdtest.Web()
	plan.Decision = workloadresizerv1.Decision_DECISION_SKIP
	plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "Restored", Message: "the pod is kept at its originals"}}
	return plan
}

// asCreated is a pod that was never resized.
func asCreated() *workloadresizerv1.Plan {
	plan := cmdtest.Bare()
	plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "Restored", Message: "the pod has what its author asked for"}}
	return plan
}

func summaryOf(resize, skip int64) *workloadresizerv1.PlanSummary {
	return &workloadresizerv1.PlanSummary{Pods: resize + skip, Resize: resize, Skip: skip}
}

// restoring is a server that restores web by the time it is asked for the progress the nth time; 0
// means that it has restored it, and ever that it never does.
func restoring(n int, others ...*workloadresizerv1.Plan) *cmdtest.Fake {
	server, pods := holding{}.server(), int64(1+len(others))
	pending := int64(1)
	plan := func(web *workloadresizerv1.Plan) {
		server.Follow(cmdtest.Plans(summaryOf(pending, pods-pending), append([]*workloadresizerv1.Plan{web}, others...)...))
	}
	restore := func() {
		pending = 0
		plan(restored())
	}
	plan(cmdtest.Web())
	if n == 0 {
		restore()
	}
	server.Follow(cmdtest.On(func(req *workloadresizerv1.GetHoldRequest) (*workloadresizerv1.GetHoldResponse, error) {
		if n--; n == 0 {
			restore()
		}
		return progressed(req, pods, pending), nil
	}))
	return server
}

const ever = -1

func TestRestore(t *testing.T) {
	pod := cmdtest.PodScope("default", cmdtest.Web().GetPod())
	for _, tc := range []struct {
		name   string
		server *cmdtest.Fake
		args   []string
		golden string
		stderr string
		code   int
		asked  *workloadresizerv1.RestoreRequest
	}{
		{"restores a pod", restoring(2), []string{cmdtest.Web().GetPod()},
			"restore-pod.table", "pod default/web-6d4cf56db6-x2x7p is restored, and is not resized again until \"resizectl resume\"\n", command.ExitOK, &workloadresizerv1.RestoreRequest{Scope: pod}},
		{"restores a namespace", restoring(3, asCreated()), []string{"-n", "default", "--reason", "too slow"},
			"restore-namespace.table", "namespace default is restored, and is not resized again until \"resizectl resume\"\n", command.ExitOK, &workloadresizerv1.RestoreRequest{Scope: cmdtest.NamespaceScope("default"), Reason: "too slow"}},
		{"restores every pod for a limited time", restoring(1), []string{"-A", "--yes", "--for", "1h", "-o", "json"},
			"restore-all.json", "every pod in the cluster is restored, and is not resized again until \"resizectl resume\" or the end of --for\n", command.ExitOK, &workloadresizerv1.RestoreRequest{Scope: cmdtest.Everything, Ttl: durationpb.New(time.Hour)}},
		{"lists pods that cannot be restored", restoring(1, asCreated(), cmdtest.Unsteady()), []string{"-A", "--yes"},
			"restore-veto.table", "not restored: shop/cart-0: InvalidAnnotation: original-cpu.cart is \" [31m one core\"; QOSClassChange\n", command.ExitDifferences, &workloadresizerv1.RestoreRequest{Scope: cmdtest.Everything}},
		{"lists pods that are not restored in time", restoring(ever), []string{cmdtest.Web().GetPod(), "--timeout", "2s"},
			"restore-late.table", "not restored: default/web-6d4cf56db6-x2x7p: not done yet: BoundsClamped: the cpu request of proxy is 50m, the least that is configured, instead of 48m\n", command.ExitDifferences, &workloadresizerv1.RestoreRequest{Scope: pod}},
		{"does not wait with --wait=false", restoring(ever), []string{cmdtest.Web().GetPod(), "--wait=false", "--for", "1h"},
			"restore-no-wait.table", "", command.ExitOK, &workloadresizerv1.RestoreRequest{Scope: pod, Ttl: durationpb.New(time.Hour)}},
		{"requests an emergency restore", restoring(ever), []string{"-A", "--yes", "--emergency", "--wait=false"},
			"restore-emergency.table", "", command.ExitOK, &workloadresizerv1.RestoreRequest{Scope: cmdtest.Everything, Emergency: true}},
		{"warns of a server without emergency restores", holding{withoutEmergencies: true}.server(), []string{"-A", "--yes", "--emergency", "--wait=false"},
			"restore-no-emergency.table", "warning: the server does not know --emergency yet, and restores these pods at its usual rate\n", command.ExitOK, &workloadresizerv1.RestoreRequest{Scope: cmdtest.Everything, Emergency: true}},
		{"shows what would be restored in a dry run", restoring(ever, asCreated()), []string{"-A", "--dry-run"},
			"restore-dry-run.table", "", command.ExitDifferences, &workloadresizerv1.RestoreRequest{Scope: cmdtest.Everything, ValidateOnly: true}},
		{"shows nothing to restore in a dry run", restoring(0, asCreated()), []string{"-A", "--dry-run"},
			"restore-dry-run-none.table", "", command.ExitOK, &workloadresizerv1.RestoreRequest{Scope: cmdtest.Everything, ValidateOnly: true}},
		{"lists pods that cannot be restored in a dry run", restoring(ever, cmdtest.Unsteady()), []string{"-A", "--dry-run", "-o", "yaml"},
			"restore-dry-run.yaml", "not restored: shop/cart-0: InvalidAnnotation: original-cpu.cart is \" [31m one core\"; QOSClassChange\n", command.ExitDifferences, &workloadresizerv1.RestoreRequest{Scope: cmdtest.Everything, ValidateOnly: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"restore", "--server", tc.server.Serve(t)}, tc.args...)...)
			if code != tc.code || stderr != tc.stderr {
				t.Errorf("exit %d, want %d; stderr %q, want %q", code, tc.code, stderr, tc.stderr)
			}
			tc.asked.Author = connect.Author()
			if diff := cmp.Diff([]proto.Message{tc.asked}, tc.server.Written(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong request (-want +got):\n%s", diff)
			}
			switch preview := tc.server.LastRequest().(type) {
			case interface{ GetRestore() bool }:
				if !preview.GetRestore() {
					t.Errorf("wrong preview %v", preview)
				}
			case *workloadresizerv1.RestoreRequest:
				if !slices.Contains(tc.args, "--wait=false") {
					t.Error("did not preview the plans")
				}
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

func TestRestoreRules(t *testing.T) {
	t.Run("restores a workload", restoresAWorkload)
	t.Run("shows the progress from the beginning", showsTheProgressFromTheBeginning)
	t.Run("fails if the pod is replaced", failsIfThePodIsReplaced)
	t.Run("succeeds if the pod is deleted meanwhile", succeedsIfThePodIsDeletedMeanwhile)
	t.Run("fails if the restore is ended meanwhile", failsIfTheRestoreIsEndedMeanwhile)
	t.Run("waits for a replica that does not know the restore yet", func(t *testing.T) {
		asksAgain(t, cmdtest.WithReason(codes.NotFound, "HOLD_NOT_FOUND", "there is no restore"))
	})
	t.Run("waits for a server that counts pods for others", func(t *testing.T) {
		asksAgain(t, cmdtest.WithReason(codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "8 previews of many pods are already running"))
	})
	t.Run("says on interrupt that the server continues", saysOnInterruptThatTheServerContinues)
}

// The command waits only for the pods that were named.
func restoresAWorkload(t *testing.T) {
	server := restoring(1)
	code, _, stderr := program.Shell(t.Context(), "restore", "deploy/web", "-n", "shop", "--server", server.Serve(t))
	if code != command.ExitOK || stderr != "deployment shop/web is restored, and is not resized again until \"resizectl resume\"\n" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	web := &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}
	stored := []proto.Message{&workloadresizerv1.RestoreRequest{Scope: cmdtest.WorkloadScope("shop", "Deployment", "web"), Author: connect.Author()}}
	if diff := cmp.Diff(stored, server.Written(), protocmp.Transform()); diff != "" {
		t.Errorf("wrong restore (-want +got):\n%s", diff)
	}
	looked := proto.Message(&workloadresizerv1.PreviewPlansRequest{Namespace: "shop", Workload: web, Restore: true})
	if diff := cmp.Diff(looked, server.LastRequest(), protocmp.Transform()); diff != "" {
		t.Errorf("wrong preview (-want +got):\n%s", diff)
	}
}

// A single pod is restored or not: until then, the bar has no progress.
func showsTheProgressFromTheBeginning(t *testing.T) {
	screen := cmdtest.OpenTerminal(t)
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, ErrOut: screen.File}
	if code := program(t.Context(), streams, []string{"restore", cmdtest.Web().GetPod(), "--server", restoring(2).Serve(t)}); code != command.ExitOK {
		t.Errorf("exit %d", code)
	}
	const want = "\r\x1b[Krestoring [..............................]   0% of 1 pod\r\x1b[Kpod default/"
	if got := screen.Shown(t); !strings.HasPrefix(got, want) {
		t.Errorf("shown is %q, want %q first", got, want)
	}
}

// Another pod of the same name is not the pod to restore.
func failsIfThePodIsReplaced(t *testing.T) {
	other := cmdtest.Web()
	other.Uid = "another"
	server := holding{}.server()
	server.Follow(cmdtest.Plans(nil, other), cmdtest.On(func(req *workloadresizerv1.GetHoldRequest) (*workloadresizerv1.GetHoldResponse, error) {
		return progressed(req, 0, 0), nil
	}))
	code, stdout, stderr := program.Shell(t.Context(), "restore", other.GetPod(), "--server", server.Serve(t))
	if code != command.ExitError || stdout != "" || !strings.Contains(stderr, "error: pod default/"+other.GetPod()+" was replaced by another pod of the same name") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// A deleted pod needs no restore, whether or not the server has forgotten its hold.
func succeedsIfThePodIsDeletedMeanwhile(t *testing.T) {
	notFound := cmdtest.WithReason(codes.NotFound, "HOLD_NOT_FOUND", "there is no restore")
	for _, forgotten := range []error{nil, notFound} {
		server := holding{}.server()
		server.Follow(cmdtest.On(func(req *workloadresizerv1.GetHoldRequest) (*workloadresizerv1.GetHoldResponse, error) {
			if forgotten != nil {
				server.Follow(cmdtest.Fails("GetHold", forgotten))
			}
			return progressed(req, 0, 0), nil
		}))
		code, stdout, stderr := program.Shell(t.Context(), "restore", "web", "--server", server.Serve(t))
		if code != command.ExitOK || stdout != "" || stderr != "pod default/web was deleted, so nothing is left to restore\n" {
			t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
		}
	}
}

func failsIfTheRestoreIsEndedMeanwhile(t *testing.T) {
	server := restoring(ever)
	server.Follow(cmdtest.On(func(req *workloadresizerv1.GetHoldRequest) (*workloadresizerv1.GetHoldResponse, error) {
		server.Follow(cmdtest.Fails("GetHold", cmdtest.WithReason(codes.NotFound, "HOLD_NOT_FOUND", "there is no restore")))
		return progressed(req, 1, 1), nil
	}))
	code, stdout, stderr := program.Shell(t.Context(), "restore", "-n", "shop", "--server", server.Serve(t))
	want := "error: the restore of namespace shop has ended before all pods were restored: \"resizectl resume\" or --for ended it\n"
	if code != command.ExitError || stdout != "" || stderr != want {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// asksAgain tests that the command asks again if it is refused for a while.
func asksAgain(t *testing.T, refusal error) {
	server := restoring(0)
	asked := 0
	server.Follow(cmdtest.On(func(req *workloadresizerv1.GetHoldRequest) (*workloadresizerv1.GetHoldResponse, error) {
		if asked < 2 {
			asked++
			return nil, refusal
		}
		return progressed(req, 1, 0), nil
	}))
	code, _, stderr := program.Shell(t.Context(), "restore", "-n", "shop", "--server", server.Serve(t))
	if code != command.ExitOK || asked != 2 {
		t.Errorf("exit %d after %d refusals, stderr %q", code, asked, stderr)
	}
}

// Users who stop waiting must not conclude that the server stops, too.
func saysOnInterruptThatTheServerContinues(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := restoring(ever)
	server.Follow(cmdtest.On(func(req *workloadresizerv1.GetHoldRequest) (*workloadresizerv1.GetHoldResponse, error) {
		cancel()
		return progressed(req, 1, 1), nil
	}))
	code, stdout, stderr := program.Shell(ctx, "restore", "-n", "shop", "--server", server.Serve(t))
	if code != command.ExitInterrupted || stdout != "" || stderr != "the server continues to restore namespace shop\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

package resizes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestResizes(t *testing.T) {
	server := &cmdtest.Server{}
	server.Resizing.Resizes = cmdtest.Resizes()
	address := cmdtest.Serve(t, server)
	of := func(namespace string) proto.Message {
		return &workloadresizerv1.ListResizesRequest{Namespace: namespace, PageToken: "2"}
	}
	ofPod := func(pod string) proto.Message {
		return &workloadresizerv1.GetResizeRequest{Namespace: "default", Pod: pod}
	}
	for _, tc := range []struct {
		golden string
		args   []string
		asked  proto.Message
	}{
		{"resizes.table", []string{"list"}, of("default")},
		{"resizes-all.table", []string{"list", "-A", "-n", "shop"}, of("")},
		{"resizes-all.wide", []string{"list", "-A", "-o", "wide"}, of("")},
		{"resizes-all.color", []string{"list", "-A", "--color", "always"}, of("")},
		{"resizes.json", []string{"list", "-o", "json"}, of("default")},
		{"resizes.yaml", []string{"list", "-o", "yaml"}, of("default")},
		{"resizes.table", []string{"list", "-n", "shop", "-l", "app=web", "--state", "deferred,failed", "--state", "pending"}, &workloadresizerv1.ListResizesRequest{
			Namespace: "shop", LabelSelector: "app=web", PageToken: "2", States: []workloadresizerv1.ResizeState{
				workloadresizerv1.ResizeState_RESIZE_STATE_DEFERRED, workloadresizerv1.ResizeState_RESIZE_STATE_FAILED, workloadresizerv1.ResizeState_RESIZE_STATE_PENDING,
			}}},
		{"resize.table", []string{"get", "api-1"}, ofPod("api-1")},
		{"resize.wide", []string{"get", "pod/api-1", "-o", "wide"}, ofPod("api-1")},
		{"resize.json", []string{"get", "api-1", "-o", "json"}, ofPod("api-1")},
		{"resize.yaml", []string{"get", "api-1", "-o", "yaml"}, ofPod("api-1")},
	} {
		t.Run(strings.Join(append([]string{"resizes"}, tc.args...), " "), func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"resizes", "--server", address}, tc.args...)...)
			if code != command.ExitOK || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			if diff := cmp.Diff(tc.asked, server.LastRequest(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong request (-want +got):\n%s", diff)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

func TestResizesByUsage(t *testing.T) {
	server := &cmdtest.Server{}
	server.Resizing.Resizes = cmdtest.Resizes()
	server.Resizing.Resizes[1].Containers[0].Demands = map[string]string{"cpu": "480m"}
	code, stdout, stderr := program.Shell(t.Context(), "resizes", "list", "-A", "-o", "wide", "--server", cmdtest.Serve(t, server))
	if code != command.ExitOK || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	cmdtest.Golden(t, "resizes-usage.wide", stdout)
}

func TestNoResizes(t *testing.T) {
	address := cmdtest.Serve(t, &cmdtest.Server{})
	for _, tc := range []struct {
		stderr string
		args   []string
	}{
		{"no pods found that were sized in namespace default\n", nil},
		{"no pods found that were sized\n", []string{"-A"}},
		{"no matching pods found that were sized in namespace shop\n", []string{"-n", "shop", "-l", "app=web"}},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append([]string{"resizes", "list", "--server", address}, tc.args...)...)
		if code != command.ExitOK || stdout != "" || stderr != tc.stderr {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", tc.args, code, stdout, stderr)
		}
	}
	code, stdout, stderr := program.Shell(t.Context(), "resizes", "get", "web", "--server", address)
	if code != command.ExitError || stdout != "" || stderr != "error: there is no pod default/web\n" {
		t.Errorf("get: exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestResizesRules(t *testing.T) {
	t.Run("explains partly sized pods", explainsPartlySizedPods)
	t.Run("watches with list --watch", watchesWithListWatch)
}

// The output says which pods are partly sized, and why.
func explainsPartlySizedPods(t *testing.T) {
	server := &cmdtest.Server{}
	server.Resizing.Resizes = []*workloadresizerv1.Resize{cmdtest.PartlySized("default", "api-0"), cmdtest.Sized("default", "api-1", workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, "")}
	plan := cmdtest.OnN4("default", "api-0", workloadresizerv1.Decision_DECISION_SKIP)
	plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "NodeCapacity", Message: "node node-1 has no room for 1Gi more"}}
	server.Plans = []*workloadresizerv1.Plan{plan}
	address := cmdtest.Serve(t, server)
	const remark = "1 pod is partly sized; \"resizectl explain POD\" shows why\n"
	for _, tc := range []struct {
		golden, stderr string
		args           []string
	}{
		{"resizes-part.table", remark, []string{"list"}},
		{"resizes-part.wide", remark, []string{"list", "-o", "wide"}},
		{"resizes-part.name", "", []string{"list", "-o", "name"}},
		{"resize-part.table", "", []string{"get", "api-0"}},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append([]string{"resizes", "--server", address}, tc.args...)...)
		if code != command.ExitOK || stderr != tc.stderr {
			t.Errorf("%q: exit %d, stderr %q", tc.args, code, stderr)
		}
		cmdtest.Golden(t, tc.golden, stdout)
	}
	server.Resizing.Refused = map[string]error{"PreviewPod": cmdtest.WithReason(codes.PermissionDenied, "METHOD_NOT_AUTHORIZED", "ann may not preview plans")}
	code, stdout, stderr := program.Shell(t.Context(), "resizes", "get", "api-0", "--server", address)
	if code != command.ExitOK || stderr != "" || !strings.HasSuffix(stdout, "\npartly sized, for an unknown reason: ann may not preview plans.\n") {
		t.Errorf("without the right: exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestWatchResizes(t *testing.T) {
	inDefault := &workloadresizerv1.WatchResizesRequest{Namespace: "default"}
	for _, tc := range []struct {
		golden string
		args   []string
		asked  *workloadresizerv1.WatchResizesRequest
	}{
		{"resizes-watch.table", nil, inDefault},
		{"resizes-watch-all.table", []string{"-A"}, &workloadresizerv1.WatchResizesRequest{}},
		{"resizes-watch.table", []string{"-l", "app=api", "--state", "actuated,deferred"}, &workloadresizerv1.WatchResizesRequest{
			Namespace: "default", LabelSelector: "app=api",
			States: []workloadresizerv1.ResizeState{workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, workloadresizerv1.ResizeState_RESIZE_STATE_DEFERRED},
		}},
		{"resizes-watch.wide", []string{"-o", "wide"}, inDefault},
		{"resizes-watch.color", []string{"--color", "always"}, inDefault},
		{"resizes-watch.json", []string{"-o", "json"}, inDefault},
		{"resizes-watch.yaml", []string{"-o", "yaml"}, inDefault},
	} {
		t.Run(strings.Join(append(tc.args, tc.golden), " "), func(t *testing.T) {
			server := &cmdtest.Server{}
			server.Resizing.Watches.Next = []cmdtest.Stream[*workloadresizerv1.WatchResizesResponse]{
				{Events: cmdtest.ResizeEvents(), Err: cmdtest.WithReason(codes.PermissionDenied, "METHOD_NOT_AUTHORIZED", "no more")},
			}
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"resizes", "watch", "--server", cmdtest.Serve(t, server)}, tc.args...)...)
			if code != command.ExitError || !strings.HasSuffix(stderr, " no more\n") {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			if diff := cmp.Diff(tc.asked, server.LastRequest(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong request (-want +got):\n%s", diff)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

// "list --watch" is "watch".
func watchesWithListWatch(t *testing.T) {
	for _, flag := range []string{"-w", "--watch"} {
		server := &cmdtest.Server{}
		server.Resizing.Watches.Next = []cmdtest.Stream[*workloadresizerv1.WatchResizesResponse]{{Events: cmdtest.ResizeEvents()}}
		_, stdout, _ := program.WatchUntil(t, "deleted", "resizes", "list", flag, "-n", "shop", "-l", "app=api", "--server", cmdtest.Serve(t, server))
		cmdtest.Golden(t, "resizes-watch.table", stdout)
		if diff := cmp.Diff(&workloadresizerv1.WatchResizesRequest{Namespace: "shop", LabelSelector: "app=api"}, server.LastRequest(), protocmp.Transform()); diff != "" {
			t.Errorf("wrong request (-want +got):\n%s", diff)
		}
	}
}

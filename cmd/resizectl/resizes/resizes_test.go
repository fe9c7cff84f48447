package resizes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// oneOfEach returns one resize of each kind: done, waiting, and impossible.
func oneOfEach() []*workloadresizerv1.Resize {
	whole := cmdtest.Sized("default", "api-0", workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, "")
	whole.Workload = nil
	whole.Containers[0].Actual = nil
	return []*workloadresizerv1.Resize{
		whole,
		cmdtest.Sized("default", "api-1", workloadresizerv1.ResizeState_RESIZE_STATE_DEFERRED, "Node didn't have enough resource: memory"),
		cmdtest.Sized("shop", "cart-0", workloadresizerv1.ResizeState_RESIZE_STATE_INFEASIBLE, "Node didn't have enough capacity: memory,\x1b[31m requested: 1"),
	}
}

// sizing returns a server that lists resizes in pages of two.
func sizing(resizes ...*workloadresizerv1.Resize) *cmdtest.Fake {
	return cmdtest.Answering(
		cmdtest.Pages(2, &workloadresizerv1.ListResizesResponse{Resizes: resizes}),
		cmdtest.On(func(req *workloadresizerv1.GetResizeRequest) (*workloadresizerv1.GetResizeResponse, error) {
			for _, resize := range resizes {
				if resize.GetPod() == req.GetPod() {
					return &workloadresizerv1.GetResizeResponse{Resize: resize}, nil
				}
			}
			return nil, status.Errorf(codes.NotFound, "there is no pod %s/%s", req.GetNamespace(), req.GetPod())
		}),
	)
}

func TestResizes(t *testing.T) {
	server := sizing(oneOfEach()...)
	address := server.Serve(t)
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
	resizes := oneOfEach()
	resizes[1].Containers[0].Demands = map[string]string{"cpu": "480m"}
	code, stdout, stderr := program.Shell(t.Context(), "resizes", "list", "-A", "-o", "wide", "--server", sizing(resizes...).Serve(t))
	if code != command.ExitOK || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	cmdtest.Golden(t, "resizes-usage.wide", stdout)
}

func TestNoResizes(t *testing.T) {
	address := sizing().Serve(t)
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
	server := sizing(cmdtest.PartlySized("default", "api-0"), cmdtest.Sized("default", "api-1", workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, ""))
	plan := cmdtest.OnN4("default", "api-0", workloadresizerv1.Decision_DECISION_SKIP)
	plan.Reasons = []*workloadresizerv1.PlanReason{{Code: "NodeCapacity", Message: "node node-1 has no room for 1Gi more"}}
	server.Follow(cmdtest.Plans(nil, plan))
	address := server.Serve(t)
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
	server.Follow(cmdtest.Fails("PreviewPod", cmdtest.WithReason(codes.PermissionDenied, "METHOD_NOT_AUTHORIZED", "ann may not preview plans")))
	code, stdout, stderr := program.Shell(t.Context(), "resizes", "get", "api-0", "--server", address)
	if code != command.ExitOK || stderr != "" || !strings.HasSuffix(stdout, "\npartly sized, for an unknown reason: ann may not preview plans.\n") {
		t.Errorf("without the right: exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// resizeEvents returns the events of a watch: two pods exist, then one changes, and is deleted.
func resizeEvents() []*workloadresizerv1.WatchResizesResponse {
	const added, modified = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED, workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_MODIFIED
	const deleted, bookmark = workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_DELETED, workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK
	actuated := cmdtest.Sized("default", "api-1", workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, "")
	return []*workloadresizerv1.WatchResizesResponse{
		{Type: added, Resize: oneOfEach()[0]}, {Type: added, Resize: oneOfEach()[1]}, {Type: bookmark, ResumeToken: "3"},
		{Type: modified, Resize: actuated, ResumeToken: "4"}, {Type: deleted, Resize: actuated, ResumeToken: "5"},
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
			server := cmdtest.Answering(cmdtest.Watches(cmdtest.Stream[*workloadresizerv1.WatchResizesResponse]{
				Events: resizeEvents(), Err: cmdtest.WithReason(codes.PermissionDenied, "METHOD_NOT_AUTHORIZED", "no more"),
			}))
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"resizes", "watch", "--server", server.Serve(t)}, tc.args...)...)
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
		server := cmdtest.Answering(cmdtest.Watches(cmdtest.Stream[*workloadresizerv1.WatchResizesResponse]{Events: resizeEvents()}))
		_, stdout, _ := program.WatchUntil(t, "deleted", "resizes", "list", flag, "-n", "shop", "-l", "app=api", "--server", server.Serve(t))
		cmdtest.Golden(t, "resizes-watch.table", stdout)
		if diff := cmp.Diff(&workloadresizerv1.WatchResizesRequest{Namespace: "shop", LabelSelector: "app=api"}, server.LastRequest(), protocmp.Transform()); diff != "" {
			t.Errorf("wrong request (-want +got):\n%s", diff)
		}
	}
}

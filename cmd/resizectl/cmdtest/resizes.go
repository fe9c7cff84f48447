package cmdtest

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Sized returns a pod that was sized for n4.
func Sized(namespace, pod string, state workloadresizerv1.ResizeState, message string) *workloadresizerv1.Resize {
	return &workloadresizerv1.Resize{
		Namespace: namespace, Pod: pod, Uid: Web().GetUid(), Node: "node-1", NodeType: "n4",
		Workload:  &workloadresizerv1.Workload{Kind: "StatefulSet", Name: "api"},
		ApplyTime: timestamppb.New(Since.Add(time.Minute)), State: state, Message: message,
		Containers: []*workloadresizerv1.ResizedContainer{{
			Name:     "api",
			Original: Resources("500m", "256Mi", "500m", "256Mi"),
			Spec:     Resources("400m", "320Mi", "400m", "320Mi"),
			Actual:   Resources("500m", "256Mi", "500m", "256Mi"),
		}},
	}
}

// PartlySized returns a pod of which only some resources were sized.
func PartlySized(namespace, pod string) *workloadresizerv1.Resize {
	resize := Sized(namespace, pod, workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, "")
	resize.NodeType, resize.ApplyTime = "", nil
	return resize
}

// Resizes returns one resize of each kind: done, waiting, and impossible.
func Resizes() []*workloadresizerv1.Resize {
	whole := Sized("default", "api-0", workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, "")
	whole.Workload = nil
	whole.Containers[0].Actual = nil
	return []*workloadresizerv1.Resize{
		whole,
		Sized("default", "api-1", workloadresizerv1.ResizeState_RESIZE_STATE_DEFERRED, "Node didn't have enough resource: memory"),
		Sized("shop", "cart-0", workloadresizerv1.ResizeState_RESIZE_STATE_INFEASIBLE, "Node didn't have enough capacity: memory,\x1b[31m requested: 1"),
	}
}

// ProgressMessage returns the message between plans that reports how many are done.
func ProgressMessage(done, total int64) *workloadresizerv1.PreviewPlansResponse {
	return &workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Progress{Progress: &workloadresizerv1.PlanProgress{Done: done, Total: total}}}
}

// SummaryMessage returns the message that ends plans.
func SummaryMessage(summary *workloadresizerv1.PlanSummary) *workloadresizerv1.PreviewPlansResponse {
	return &workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Summary{Summary: summary}}
}

// ResizeEvents returns the events of a watch: two pods exist, then one changes, and is
// deleted.
func ResizeEvents() []*workloadresizerv1.WatchResizesResponse {
	actuated := Sized("default", "api-1", workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED, "")
	return []*workloadresizerv1.WatchResizesResponse{
		{Type: addedEvent, Resize: Resizes()[0]}, {Type: addedEvent, Resize: Resizes()[1]}, {Type: bookmarkEvent, ResumeToken: "3"},
		{Type: modifiedEvent, Resize: actuated, ResumeToken: "4"}, {Type: deletedEvent, Resize: actuated, ResumeToken: "5"},
	}
}

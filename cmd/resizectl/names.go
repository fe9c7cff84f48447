package main

import (
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// podName names a pod as kubectl does.
func podName(pod string) string { return "pod/" + pod }

// workloadText names a workload as kubectl does, e.g. "deployment/web".
func workloadText(w *workloadresizerv1.Workload) string {
	return oneLine(strings.ToLower(w.GetKind()) + "/" + w.GetName())
}

// scopeText names a scope in a sentence.
func scopeText(s *workloadresizerv1.HoldScope) string {
	switch {
	case s.GetPod() != "":
		return "pod " + oneLine(s.GetNamespace()+"/"+s.GetPod())
	case s.GetWorkload() != nil:
		return strings.ToLower(oneLine(s.GetWorkload().GetKind())) + " " + oneLine(s.GetNamespace()+"/"+s.GetWorkload().GetName())
	case s.GetNamespace() != "":
		return "namespace " + oneLine(s.GetNamespace())
	}
	return "every pod of the cluster"
}

func kindText(k workloadresizerv1.HoldKind) string {
	switch k {
	case workloadresizerv1.HoldKind_HOLD_KIND_RESTORE:
		return "restore"
	case workloadresizerv1.HoldKind_HOLD_KIND_PAUSE:
		return "pause"
	}
	// A newer server may know more kinds than this version.
	return k.String()
}

package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// next is the summary with suggested commands. Every command works without changes from the
// root of the repository.
var next = template.Must(template.New("next").Parse(`
{{.Counts}}
Skipped:
{{range .LeftAlone}}  {{.}}
{{end}}
Try next, in another terminal, in {{.Root}}:

  # How fast each node type is, and what that means for the samples
  bin/resizectl --server {{.GRPC}} ratios list
  bin/resizectl --server {{.GRPC}} plan -n {{.Samples}} -o wide

  # The same from the API
  bin/grpcurl -plaintext {{.GRPCurl}} list
  bin/grpcurl -plaintext -d '{"namespace": "{{.Samples}}", "pod": "{{.Pod}}"}' {{.GRPCurl}} workloadresizer.v1.PlanService/PreviewPod

  # The pods and their events in the cluster (probes and metrics are at http://{{.HTTP}}/readyz and /metrics)
  bin/kubectl --kubeconfig {{.Kubeconfig}} -n {{.Samples}} get pods -o wide
  bin/kubectl --kubeconfig {{.Kubeconfig}} -n {{.Samples}} get events --field-selector reason=Resized

  # What the pods use, which metrics-server measures for the first time after 20 seconds
  bin/kubectl --kubeconfig {{.Kubeconfig}} -n {{.Samples}} top pods --containers

  # Watch new pods being resized
  bin/kubectl --kubeconfig {{.Kubeconfig}} -n {{.Samples}} scale deployment web --replicas 7

  # Set n4 to 1.5 times as fast as n2d, instead of 1.25: the pods on n4 become smaller
  bin/kubectl --kubeconfig {{.Kubeconfig}} -n {{.Namespace}} get configmap {{.ConfigMap}} -o yaml | sed 's/cpuPerf: 1.25/cpuPerf: 1.5/' | bin/kubectl --kubeconfig {{.Kubeconfig}} replace -f -

`))

// printSummary prints the results for the samples, and the suggested commands.
func (d *demo) printSummary(plans []*workloadresizerv1.Plan) error {
	root := filepath.Dir(d.dir)
	kubeconfig, err := filepath.Rel(root, d.cluster.Kubeconfig)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := next.Execute(&text, map[string]any{
		"Counts":     counts(plans),
		"LeftAlone":  leftAlone(plans),
		"Root":       root,
		"GRPC":       d.server.GRPCAddress,
		"GRPCurl":    forGRPCurl(d.server.GRPCAddress),
		"HTTP":       d.server.HTTPAddress,
		"Kubeconfig": kubeconfig,
		"Samples":    deploy.SampleNamespace,
		"Pod":        example(plans),
		"Namespace":  deploy.Namespace,
		"ConfigMap":  deploy.ConfigMap,
	}); err != nil {
		return err
	}
	return d.pods.print(text.String())
}

// forGRPCurl returns the arguments with which grpcurl connects to an address.
func forGRPCurl(address string) string {
	if path, ok, err := client.SocketPath(address); ok && err == nil {
		return "-unix " + path
	}
	return address
}

// counts summarizes the plans.
func counts(plans []*workloadresizerv1.Plan) string {
	var resized, asWritten, alone int
	baseline := ""
	for _, plan := range plans {
		switch {
		case plan.GetDecision() == workloadresizerv1.Decision_DECISION_SKIP:
			alone++
		case wasResized(plan):
			resized++
		default:
			asWritten++
			baseline = plan.GetBaselineNodeType()
		}
	}
	text := fmt.Sprintf("%d sample pods: %d resized, %d as written, %d skipped.", len(plans), resized, asWritten, alone)
	if baseline != "" {
		text += "\nRequests are written for " + baseline + ", so pods on its nodes do not need a resize."
	}
	return text
}

func wasResized(plan *workloadresizerv1.Plan) bool {
	for _, container := range plan.GetContainers() {
		original, current := container.GetOriginal(), container.GetCurrent()
		if !maps.Equal(original.GetRequests(), current.GetRequests()) || !maps.Equal(original.GetLimits(), current.GetLimits()) {
			return true
		}
	}
	return false
}

// leftAlone returns the skipped pods and their reasons.
func leftAlone(plans []*workloadresizerv1.Plan) []string {
	var lines []string
	for _, plan := range plans {
		if plan.GetDecision() != workloadresizerv1.Decision_DECISION_SKIP {
			continue
		}
		var why []string
		for _, reason := range plan.GetReasons() {
			why = append(why, reason.GetCode()+": "+reason.GetMessage())
		}
		lines = append(lines, fmt.Sprintf("%-26s  %s", plan.GetPod(), strings.Join(why, "; ")))
	}
	return lines
}

// example returns the name of a pod that was resized.
func example(plans []*workloadresizerv1.Plan) string {
	for _, plan := range plans {
		if wasResized(plan) && strings.HasPrefix(plan.GetPod(), "web-") {
			return plan.GetPod()
		}
	}
	return "bare"
}

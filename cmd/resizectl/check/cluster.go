package check

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

var (
	// oldest is the first version of Kubernetes in which pods can be resized by default.
	oldest = version.MustParseGeneric("1.33")
	// shrinks is the first version that can lower memory limits safely.
	shrinks = version.MustParseGeneric("1.34")
)

const upgrade = "upgrade to Kubernetes 1.33 or later"

// kubernetes checks whether the API server and the kubelets can resize pods.
func (s *subject) kubernetes(ctx context.Context) []Result {
	return append([]Result{s.apiServer(ctx), s.subresource(ctx), s.policyKind(ctx)}, s.kubelets(ctx)...)
}

func (s *subject) apiServerVersion(ctx context.Context) (*version.Version, error) {
	info, err := s.kube.Discovery().ServerVersionWithContext(ctx)
	if err != nil {
		return nil, err
	}
	return version.ParseGeneric(info.GitVersion)
}

func (s *subject) apiServer(ctx context.Context) Result {
	const check = "api-server-version"
	v, err := s.apiServerVersion(ctx)
	switch {
	case err != nil:
		return unknown(check, "the version of the API server", err)
	case v.LessThan(oldest):
		return failure(check, upgrade, "the API server is version %s, which cannot resize pods", v)
	case v.LessThan(shrinks):
		return warning(check, aboutReason(contract.MemoryLimitKept, nil), "the API server is version %s: memory limits are not lowered (MemoryLimitKept)", v)
	}
	return ok(check, "the API server is version %s", v)
}

// subresource checks what the server writes to.
func (s *subject) subresource(ctx context.Context) Result {
	const check = "pods-resize"
	resources, err := s.kube.Discovery().ServerResourcesForGroupVersionWithContext(ctx, "v1")
	if err != nil {
		return unknown(check, "the subresource pods/resize", err)
	}
	for _, r := range resources.APIResources {
		if r.Name == "pods/resize" {
			return ok(check, "the API server has the subresource pods/resize")
		}
	}
	return failure(check, upgrade+", and do not turn off the feature gate InPlacePodVerticalScaling", "the API server does not have the subresource pods/resize")
}

// policyKind checks whether the API server knows the policies of deploy/base.
func (s *subject) policyKind(ctx context.Context) Result {
	const check = "admission-policies-kind"
	resources, err := s.kube.Discovery().ServerResourcesForGroupVersionWithContext(ctx, "admissionregistration.k8s.io/v1")
	if err != nil && !apierrors.IsNotFound(err) {
		return unknown(check, "admission policies", err)
	}
	if resources != nil {
		for _, r := range resources.APIResources {
			if r.Name == "validatingadmissionpolicies" {
				return ok(check, "the API server supports ValidatingAdmissionPolicies")
			}
		}
	}
	return failure(check, upgrade+", and do not turn off admissionregistration.k8s.io/v1", "the API server does not support ValidatingAdmissionPolicies, which deploy/base contains")
}

// kubelets checks the versions of the kubelets.
func (s *subject) kubelets(ctx context.Context) []Result {
	const check = "kubelet-versions"
	if s.nodesErr != nil {
		return []Result{unknown(check, "kubelets", s.nodesErr)}
	}
	if len(s.nodes) == 0 {
		return []Result{warning(check, "add nodes", "the cluster has no nodes")}
	}
	server, err := s.apiServerVersion(ctx)
	if err != nil {
		return nil // Reported about the API server.
	}
	var old, keep, newer, unread []string
	least, most := (*version.Version)(nil), (*version.Version)(nil)
	for i := range s.nodes {
		name := s.nodes[i].Name
		v, err := version.ParseGeneric(s.nodes[i].Status.NodeInfo.KubeletVersion)
		if err != nil {
			unread = append(unread, name)
			continue
		}
		if least == nil || v.LessThan(least) {
			least = v
		}
		if most == nil || most.LessThan(v) {
			most = v
		}
		switch {
		case v.LessThan(oldest):
			old = append(old, name)
		case v.LessThan(shrinks):
			keep = append(keep, name)
		}
		if server.Major() < v.Major() || server.Major() == v.Major() && server.Minor() < v.Minor() {
			newer = append(newer, name)
		}
	}
	var found []Result
	for _, f := range []struct {
		nodes         []string
		check, remedy string
		format        string
	}{
		{old, check, "upgrade these nodes to Kubernetes 1.33 or later", "pods on %s cannot be resized, because the kubelet is older than 1.33 (ResizeUnsupported): %s"},
		{keep, check, "upgrade these nodes to Kubernetes 1.34 or later", "on %s, memory limits are not lowered, because the kubelet is older than 1.34 (MemoryLimitKept): %s"},
		{newer, "kubelet-skew", "upgrade the API server first", "on %s, the kubelet is newer than the API server, which Kubernetes does not support: %s"},
		{unread, check, "find out what the kubelet is with: kubectl get nodes -o wide", "on %s, the version of the kubelet is not a version: %s"},
	} {
		if len(f.nodes) > 0 {
			slices.Sort(f.nodes)
			found = append(found, warning(f.check, f.remedy, f.format, count(len(f.nodes), "node"), some(f.nodes)))
		}
	}
	if len(found) == 0 && least.EqualTo(most) {
		return []Result{ok(check, "the kubelets of %s are version %s", count(len(s.nodes), "node"), least)}
	}
	if len(found) == 0 {
		return []Result{ok(check, "the kubelets of %s are versions %s to %s", count(len(s.nodes), "node"), least, most)}
	}
	return found
}

// nodesGroup checks whether the types of nodes are known, and have ratios.
func (s *subject) nodesGroup(context.Context) []Result {
	if s.status != nil {
		return s.typesOfServer()
	}
	const check = "node-labels"
	if s.nodesErr != nil {
		return []Result{unknown(check, "the labels of nodes", s.nodesErr)}
	}
	types := nodetype.New("")
	var without []string
	known := map[string]bool{}
	for i := range s.nodes {
		match, _ := types.Resolve(s.nodes[i].Labels, func(string) bool { return false })
		// Each node has a label for its architecture, which says little about its speed.
		if match.NodeType == "" || match.Label == nodetype.LabelArch {
			without = append(without, s.nodes[i].Name)
		}
		known[match.NodeType] = true
	}
	labels := slices.DeleteFunc(types.TellingLabels(), func(label string) bool { return label == nodetype.LabelArch })
	if len(without) > 0 {
		return []Result{warning(check, "label them, or start the server with --node-type-label (docs/reference/configuration.md#node-types)",
			"%s without a label that names the node type by default (%s): %s", count(len(without), "node"), strings.Join(labels, ", "), some(without))}
	}
	return []Result{ok(check, "labels name the type of each node: %s of %s", count(len(s.nodes), "node"), count(len(known), "type"))}
}

// typesOfServer reports the node types that the server cannot size pods for.
func (s *subject) typesOfServer() []Result {
	const check = "node-types"
	var found []Result
	for _, t := range s.status.GetNodeTypesWithoutRatio() {
		reason := contract.UnknownNodeType
		if t.GetNodeType() == "" {
			reason = contract.NodeTypeUnlabelled
		}
		found = append(found, warning(check, aboutReason(reason, map[string]string{"TYPE": t.GetNodeType()}), "%s", print.WithoutRatio(t)))
	}
	if len(found) == 0 {
		return []Result{ok(check, "no pod is skipped because of the type of its node")}
	}
	return found
}

// autoscalers checks what else depends on requests, or changes them.
func (s *subject) autoscalers(ctx context.Context) []Result {
	return []Result{s.horizontal(ctx), s.vertical(ctx)}
}

func (s *subject) horizontal(ctx context.Context) Result {
	const check = "horizontal-pod-autoscalers"
	all, err := s.kube.AutoscalingV2().HorizontalPodAutoscalers(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return unknown(check, "HorizontalPodAutoscalers", err)
	}
	var byShare []string
	for i := range all.Items {
		if hpa := &all.Items[i]; safety.ScalesByUtilization(hpa) {
			byShare = append(byShare, hpa.Namespace+"/"+hpa.Name)
		}
	}
	if len(byShare) == 0 {
		return ok(check, "no HorizontalPodAutoscaler scales by a percentage of requests")
	}
	return warning(check, aboutReason(contract.HPAUtilization, nil),
		"resizes change what these HorizontalPodAutoscalers measure, a percentage of requests, which is not sized by usage (HPAUtilization): %s", some(byShare))
}

var vpas = schema.GroupVersionResource{Group: "autoscaling.k8s.io", Version: "v1", Resource: "verticalpodautoscalers"}

func (s *subject) vertical(ctx context.Context) Result {
	const check = "vertical-pod-autoscalers"
	all, err := s.dynamic.Resource(vpas).List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return ok(check, "the Vertical Pod Autoscaler is not installed")
	case err != nil:
		return unknown(check, "VerticalPodAutoscalers", err)
	}
	var active []string
	for i := range all.Items {
		vpa := &all.Items[i]
		// A mode of another type counts as missing, and a missing one is active.
		mode, _, _ := unstructured.NestedString(vpa.Object, "spec", "updatePolicy", "updateMode")
		if safety.VPAActive(mode) {
			active = append(active, vpa.GetNamespace()+"/"+vpa.GetName())
		}
	}
	if len(active) == 0 {
		return ok(check, "no VerticalPodAutoscaler resizes pods that run")
	}
	return warning(check, aboutReason(contract.ActiveVPA, nil), "the pods of these VerticalPodAutoscalers are not resized (ActiveVPA): %s", some(active))
}

// metrics checks what the optional parts need: usage as a source of sizes, and alerts.
func (s *subject) metrics(ctx context.Context) []Result {
	return []Result{s.metricsServer(ctx), s.prometheus(ctx)}
}

const metricsService = "v1beta1.metrics.k8s.io"

// metricsServer checks the APIService, whose conditions show whether its server answers.
func (s *subject) metricsServer(ctx context.Context) Result {
	const check = "metrics-server"
	services := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	service, err := s.dynamic.Resource(services).Get(ctx, metricsService, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return ok(check, "metrics.k8s.io is not installed; only usage and \"kubectl top\" need it")
	case err != nil:
		return unknown(check, "metrics.k8s.io", err)
	}
	conditions, _, _ := unstructured.NestedSlice(service.Object, "status", "conditions")
	for _, c := range conditions {
		if c, is := c.(map[string]any); is && c["type"] == "Available" && c["status"] == "True" {
			return ok(check, "metrics.k8s.io answers")
		}
	}
	return warning(check, "find out why: kubectl describe apiservice "+metricsService, "metrics.k8s.io is installed, but does not answer")
}

func (s *subject) prometheus(ctx context.Context) Result {
	const check = "prometheus-operator"
	_, err := s.kube.Discovery().ServerResourcesForGroupVersionWithContext(ctx, "monitoring.coreos.com/v1")
	switch {
	case apierrors.IsNotFound(err):
		return ok(check, "the Prometheus operator is not installed; without it, configure Prometheus as in docs/tasks/prometheus.md")
	case err != nil:
		return unknown(check, "the Prometheus operator", err)
	}
	return ok(check, "the Prometheus operator is installed; deploy/components/monitoring has the ServiceMonitor and the alerts")
}

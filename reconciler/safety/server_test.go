package safety

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// small is a resize without any veto.
var small = resize{pod: []func(*corev1.Pod){app(list("cpu", "1"), nil)}, to: app(list("cpu", "800m"), nil)}

// TestOnTheAPIServer compares the checks with the real API server on the same objects. The
// API server must reject a vetoed resize for the same reason (or change it, for a
// LimitRange), and the checks must not veto a resize that it accepts. There are no kubelets,
// so the test writes the statuses.
func TestOnTheAPIServer(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	server := &apiServer{client: kubernetes.NewForConfigOrDie(namespace.Config())}
	server.createNode(t)
	has := func(since string) bool { return namespace.Version().AtLeast(version.MustParseGeneric(since)) }
	type pods = []func(*corev1.Pod)
	full := list("cpu", "1", "memory", "1Gi")
	guaranteed := pods{app(full, full)}
	container := func(item corev1.LimitRangeItem) *corev1.LimitRange {
		item.Type = corev1.LimitTypeContainer
		return &corev1.LimitRange{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}}}
	}
	wholePod := func(item corev1.LimitRangeItem) *corev1.LimitRange {
		item.Type = corev1.LimitTypePod
		return &corev1.LimitRange{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}}}
	}
	limited := func(request, limit string) func(*corev1.Pod) { return app(list("cpu", request), list("cpu", limit)) }
	quota := func(pairs ...string) *corev1.ResourceQuota {
		return &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: list(pairs...)}}
	}
	scoped := quota("requests.cpu", "2")
	scoped.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating}
	deadline := func(p *corev1.Pod) { hour := int64(3600); p.Spec.ActiveDeadlineSeconds = &hour }
	claims := func(p *corev1.Pod) {
		name := "gpu"
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}}
	}

	// 1.34 and 1.35 would accept the resize of a container next to an init container with a claim, which
	// is skipped nevertheless. 1.33 drops claims.
	var initClaims contract.Reason
	if has("1.34") {
		initClaims = contract.ResourceClaims
	}

	for _, tc := range []struct {
		name   string
		reason contract.Reason
		vetoed resize
		// limitRange and quota are created once the vetoed pod runs.
		limitRange *corev1.LimitRange
		quota      *corev1.ResourceQuota
		accepted   resize
		// changedSince is the version from which the server changes the resize instead of
		// rejecting it; empty for none.
		changedSince string
		// refusal is the reason for the server's message if it differs from our reason.
		refusal contract.Reason
		// since is the first version that rejects the resize; empty for all. before is our
		// reason on older versions.
		since  string
		before contract.Reason
	}{
		{name: "a static pod", reason: contract.StaticPod, accepted: small, vetoed: resize{
			pod: append(small.pod[:1:1], func(p *corev1.Pod) {
				p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "hash"}
			}), to: small.to}},
		{name: "a Windows pod", reason: contract.WindowsPod, accepted: small, vetoed: resize{
			pod: append(small.pod[:1:1], func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Windows} }), to: small.to}},
		{name: "a node that does not report resources", reason: contract.ResizeUnsupported,
			vetoed: resize{pod: small.pod, to: small.to, status: func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Resources = nil }},
			accepted: resize{pod: append(small.pod[:1:1], second(nil, nil)), to: small.to, status: func(p *corev1.Pod) {
				p.Status.ContainerStatuses[1].Resources = nil
			}}},
		{name: "pod-level resources", reason: contract.PodLevelResources, since: "1.34", accepted: small, vetoed: resize{
			pod: append(small.pod[:1:1], func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{Requests: list("cpu", "1")} }),
			to:  app(list("cpu", "2"), nil)}},
		{name: "a resource claim", reason: contract.ResourceClaims, since: "1.34", accepted: small, vetoed: resize{
			pod: append(small.pod[:1:1], claims, func(p *corev1.Pod) { claim(p.Spec.Containers) }),
			to:  func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = list("cpu", "800m") }}},
		{name: "a resource claim of an init container", reason: contract.ResourceClaims, since: "1.36", before: initClaims, accepted: small, vetoed: resize{
			pod: append(small.pod[:1:1], claims, initContainer("init", nil, nil), func(p *corev1.Pod) { claim(p.Spec.InitContainers) }), to: small.to}},

		{name: "Guaranteed to Burstable", reason: contract.QOSClassChange, vetoed: resize{pod: guaranteed, to: app(list("cpu", "800m", "memory", "1Gi"), full)},
			accepted: resize{pod: guaranteed, to: app(list("cpu", "800m", "memory", "1Gi"), list("cpu", "800m", "memory", "1Gi"))}},
		{name: "Burstable to Guaranteed", reason: contract.QOSClassChange, vetoed: resize{pod: pods{app(list("cpu", "800m", "memory", "1Gi"), full)}, to: app(full, full)},
			accepted: resize{pod: pods{app(list("cpu", "800m", "memory", "1Gi"), full), initContainer("init", nil, nil)}, to: app(full, full)}},

		{name: "below the minimum of a container", reason: contract.LimitRangeViolation, limitRange: container(corev1.LimitRangeItem{Min: list("cpu", "500m")}),
			vetoed: resize{pod: small.pod, to: app(list("cpu", "400m"), nil)}, accepted: resize{pod: small.pod, to: app(list("cpu", "500m"), nil)}},
		{name: "above the maximum of a container", reason: contract.LimitRangeViolation, limitRange: container(corev1.LimitRangeItem{Max: list("cpu", "2")}),
			vetoed: resize{pod: pods{limited("1", "2")}, to: limited("1", "2001m")}, accepted: resize{pod: pods{limited("1", "1")}, to: limited("2", "2")}},
		{name: "a limit too far from its request", reason: contract.LimitRangeViolation, limitRange: container(corev1.LimitRangeItem{MaxLimitRequestRatio: list("cpu", "1500m")}),
			vetoed: resize{pod: pods{limited("1", "1500m")}, to: limited("800m", "1201m")}, accepted: resize{pod: pods{limited("1", "1500m")}, to: limited("800m", "1200m")}},
		{name: "a size that stays out of range", reason: contract.LimitRangeViolation, limitRange: container(corev1.LimitRangeItem{Max: list("cpu", "1")}),
			vetoed: resize{pod: pods{limited("3", "3")}, to: limited("2", "2")}, accepted: resize{pod: pods{limited("1", "1")}, to: limited("500m", "500m")}},
		{name: "another container that is out of range", reason: contract.LimitRangeViolation, limitRange: container(corev1.LimitRangeItem{Min: list("cpu", "200m")}),
			vetoed: resize{pod: pods{limited("1", "1"), second(list("cpu", "100m"), nil)}, to: limited("500m", "500m")}, accepted: resize{pod: pods{limited("1", "1"), second(list("cpu", "200m"), nil)}, to: limited("500m", "500m")}},
		{name: "above the maximum of a pod", reason: contract.LimitRangeViolation, limitRange: wholePod(corev1.LimitRangeItem{Max: list("cpu", "2")}),
			vetoed:   resize{pod: pods{limited("1", "1"), sidecar(list("cpu", "1"), list("cpu", "1"))}, to: limited("1", "1100m")},
			accepted: resize{pod: pods{limited("1", "1"), initContainer("init", list("cpu", "2"), list("cpu", "2"))}, to: limited("1", "2")}},
		{name: "an added default limit", reason: contract.LimitRangeViolation, limitRange: container(corev1.LimitRangeItem{Default: list("memory", "2Gi"), DefaultRequest: list("memory", "1Gi")}), changedSince: "1.34",
			vetoed: small, accepted: resize{pod: pods{app(list("cpu", "1", "memory", "1Gi"), list("memory", "1Gi"))}, to: app(list("cpu", "800m", "memory", "1Gi"), list("memory", "1Gi"))}},
		{name: "an added default limit below the request", reason: contract.LimitRangeViolation, limitRange: container(corev1.LimitRangeItem{Default: list("cpu", "500m")}),
			vetoed: small, accepted: resize{pod: pods{limited("1", "1")}, to: limited("800m", "800m")}},
		{name: "an added default of another resource", reason: contract.LimitRangeViolation, limitRange: container(corev1.LimitRangeItem{Default: list("ephemeral-storage", "1Gi")}), refusal: contract.ResourceClaims,
			vetoed: small, accepted: resize{pod: pods{app(list("cpu", "1", "ephemeral-storage", "1Gi"), list("ephemeral-storage", "1Gi"))}, to: app(list("cpu", "800m", "ephemeral-storage", "1Gi"), list("ephemeral-storage", "1Gi"))}},

		{name: "beyond the node", reason: contract.NodeCapacity, since: "1.36", before: contract.NodeCapacity, vetoed: resize{pod: small.pod, to: app(list("cpu", "9"), nil)}, accepted: resize{pod: small.pod, to: app(list("cpu", "8"), nil)}},

		{name: "beyond a quota", reason: contract.QuotaExceeded, quota: quota("requests.cpu", "2"),
			vetoed: resize{pod: small.pod, to: app(list("cpu", "2001m"), nil)}, accepted: resize{pod: small.pod, to: small.to}},
		{name: "beyond a quota of limits", reason: contract.QuotaExceeded, quota: quota("limits.memory", "3Gi"),
			vetoed:   resize{pod: pods{app(list("memory", "1Gi"), list("memory", "1Gi"))}, to: app(list("memory", "1Gi"), list("memory", "4Gi"))},
			accepted: resize{pod: pods{app(list("memory", "1Gi"), list("memory", "1Gi"))}, to: app(list("memory", "1Gi"), list("memory", "2Gi"))}},
		{name: "a quota of a resource that a container lacks", reason: contract.QuotaExceeded, quota: quota("limits.cpu", "9"),
			vetoed: small, accepted: resize{pod: pods{limited("1", "1")}, to: limited("800m", "800m")}},
		{name: "a quota for other pods", reason: contract.QuotaExceeded, quota: scoped,
			vetoed: resize{pod: append(small.pod[:1:1], deadline), to: app(list("cpu", "3"), nil)}, accepted: resize{pod: small.pod, to: app(list("cpu", "3"), nil)}},
		{name: "a quota does not charge while a resize is infeasible", reason: contract.QuotaExceeded, quota: quota("requests.cpu", "3"),
			vetoed: resize{pod: small.pod, to: app(list("cpu", "4"), nil)},
			accepted: resize{pod: small.pod, to: app(list("cpu", "4"), nil), status: func(p *corev1.Pod) {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible}}
			}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ns := localcluster.NamespaceForTest(t).Name
			vetoed := server.run(t, ns, "vetoed", tc.vetoed)
			server.constrain(t, ns, tc.limitRange, tc.quota)
			after := tc.vetoed.apply(vetoed)
			if tc.since != "" && !has(tc.since) {
				if _, err := server.dryRun(t, after); err != nil {
					t.Errorf("rejected although this version has no such rule: %v", err)
				}
				check(t, server.veto(t, vetoed, after), tc.before, "")
				return
			}
			var refusal error
			// The server's admission plugins see a new constraint after a delay.
			localcluster.Eventually(t, "the API server to object", func() error {
				var got *corev1.Pod
				got, refusal = server.dryRun(t, after)
				if refusal == nil && sameSizes(got, after) {
					return errors.New("it accepts the resize")
				}
				return nil
			})
			check(t, server.veto(t, vetoed, after), tc.reason, "")
			switch {
			case tc.changedSince != "" && has(tc.changedSince):
				if refusal != nil {
					t.Errorf("rejected: %v", refusal)
				}
			case refusal == nil:
				t.Error("changed, not rejected")
			default:
				want := tc.reason
				if tc.refusal != "" {
					want = tc.refusal
				}
				if got, _ := Refusal(refusal.Error()); got != want {
					t.Errorf("%v: the reason is %q, want %q", refusal, got, want)
				}
			}

			accepted := server.run(t, ns, "accepted", tc.accepted)
			after = tc.accepted.apply(accepted)
			if got, err := server.dryRun(t, after); err != nil {
				t.Errorf("the accepted resize: %v", err)
			} else if !sameSizes(got, after) {
				t.Error("the accepted resize was changed")
			}
			check(t, server.veto(t, accepted, after), "", "")
		})
	}
}

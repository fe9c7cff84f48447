package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

func TestLimitRange(t *testing.T) {
	perContainer := func(item corev1.LimitRangeItem) corev1.LimitRangeItem {
		item.Type = corev1.LimitTypeContainer
		return item
	}
	perPod := func(item corev1.LimitRangeItem) corev1.LimitRangeItem {
		item.Type = corev1.LimitTypePod
		return item
	}
	minimum, maximum := corev1.LimitRangeItem{Min: list("cpu", "500m")}, corev1.LimitRangeItem{Max: list("cpu", "2")}
	ratio := corev1.LimitRangeItem{MaxLimitRequestRatio: list("cpu", "1500m")}
	one := app(list("cpu", "1"), list("cpu", "1500m"))
	to := func(request, limit string) []func(*corev1.Pod) {
		return []func(*corev1.Pod){app(list("cpu", request), list("cpu", limit))}
	}
	type pods = []func(*corev1.Pod)
	for _, tc := range []struct {
		name          string
		before, after pods
		item          corev1.LimitRangeItem
		want          string
	}{
		{"exactly the minimum", pods{one}, to("500m", "750m"), perContainer(minimum), ""},
		{"exactly the minimum, with a limit equal to it", pods{one}, to("500m", "500m"), perContainer(minimum), ""},
		{"a minimum whose thousandths overflow", pods{app(list("memory", "1Gi"), list("memory", "1Gi"))}, pods{app(list("memory", "2Gi"), list("memory", "2Gi"))}, perContainer(corev1.LimitRangeItem{Min: list("memory", "1Ei")}), "container app: minimum memory usage per Container is 1Ei, but request is 2Gi"},
		{"a limit whose thousandths overflow", pods{app(list("memory", "1Gi"), list("memory", "1Ei"))}, pods{app(list("memory", "2Gi"), list("memory", "1Ei"))}, perContainer(corev1.LimitRangeItem{Max: list("memory", "4Gi")}), "container app: maximum memory usage per Container is 4Gi, but limit is 1Ei"},
		{"a request below the minimum", pods{one}, to("499m", "750m"), perContainer(minimum), "container app: minimum cpu usage per Container is 500m, but request is 499m"},
		{"a minimum and no request", pods{app(nil, nil), second(list("cpu", "1"), nil)}, pods{app(nil, nil), second(list("cpu", "800m"), nil)}, perContainer(minimum), "container app: minimum cpu usage per Container is 500m, but no request is specified"},
		{"a minimum of another resource", pods{one}, to("800m", "1200m"), perContainer(corev1.LimitRangeItem{Min: list("memory", "1Gi")}), "container app: minimum memory usage per Container is 1Gi, but no request is specified"},
		{"exactly the maximum", pods{one}, to("1500m", "2"), perContainer(maximum), ""},
		{"a limit above the maximum", pods{one}, to("1500m", "2001m"), perContainer(maximum), "container app: maximum cpu usage per Container is 2, but limit is 2001m"},
		{"a maximum and no limit", pods{app(list("cpu", "1"), nil)}, pods{app(list("cpu", "800m"), nil)}, perContainer(maximum), "container app: maximum cpu usage per Container is 2, but no limit is specified"},
		{"exactly the ratio", pods{one}, to("800m", "1200m"), perContainer(ratio), ""},
		{"a limit too far from its request", pods{one}, to("800m", "1201m"), perContainer(ratio), "container app: cpu max limit to request ratio per Container is 1500m, but the ratio is 1.501250"},
		{"a ratio and no limit", pods{app(list("cpu", "1"), nil)}, pods{app(list("cpu", "800m"), nil)}, perContainer(ratio), "container app: cpu max limit to request ratio per Container is 1500m, but no limit is specified or limit is 0"},
		{"a ratio and a request of zero", pods{app(list("cpu", "0"), list("cpu", "1"))}, pods{app(list("cpu", "0"), list("cpu", "2"))}, perContainer(ratio), "container app: cpu max limit to request ratio per Container is 1500m, but no request is specified or request is 0"},
		{"an unchanged size out of range", pods{one, second(list("cpu", "3"), list("cpu", "3"))}, pods{app(list("cpu", "800m"), list("cpu", "1200m")), second(list("cpu", "3"), list("cpu", "3"))}, perContainer(maximum), "container second: maximum cpu usage per Container is 2, but limit is 3"},
		{"a size that returns into the range", pods{app(list("cpu", "3"), list("cpu", "3"))}, to("2", "2"), perContainer(maximum), ""},
		{"an init container", pods{one, initContainer("init", list("cpu", "100m"), nil)}, pods{app(list("cpu", "800m"), list("cpu", "1200m")), initContainer("init", list("cpu", "100m"), nil)}, perContainer(minimum), "container init: minimum cpu usage per Container is 500m, but request is 100m"},
		{"several violations name the first resource", pods{one}, to("800m", "1200m"), perContainer(corev1.LimitRangeItem{Min: list("memory", "1Gi", "ephemeral-storage", "1Gi", "cpu", "1")}), "container app: minimum cpu usage per Container is 1, but request is 800m"},
		{"defaults that already exist", pods{one}, to("800m", "1200m"), perContainer(corev1.LimitRangeItem{Default: list("cpu", "1"), DefaultRequest: list("cpu", "1")}), ""},
		{"a limit would be added", pods{app(list("cpu", "1"), nil)}, pods{app(list("cpu", "800m"), nil)}, perContainer(corev1.LimitRangeItem{Default: list("cpu", "2")}), "container app would get a limit of 2 cpu"},
		{"a request would be added", pods{one}, to("800m", "1200m"), perContainer(corev1.LimitRangeItem{DefaultRequest: list("memory", "1Gi")}), "container app would get a request of 1Gi memory"},
		{"another resource would be added", pods{one}, to("800m", "1200m"), perContainer(corev1.LimitRangeItem{Default: list("ephemeral-storage", "1Gi")}), "container app would get a limit of 1Gi ephemeral-storage"},
		{"a limit would be added to an init container", pods{one, initContainer("init", nil, nil)}, pods{app(list("cpu", "800m"), list("cpu", "1200m")), initContainer("init", nil, nil)}, perContainer(corev1.LimitRangeItem{Default: list("cpu", "2")}), "container init would get a limit of 2 cpu"},
		{"a pod at its maximum", pods{one}, pods{app(list("cpu", "1"), list("cpu", "2"))}, perPod(maximum), ""},
		{"a pod above its maximum", pods{one, second(list("cpu", "500m"), list("cpu", "500m"))}, pods{app(list("cpu", "1"), list("cpu", "1600m")), second(list("cpu", "500m"), list("cpu", "500m"))}, perPod(maximum), "maximum cpu usage per Pod is 2, but limit is 2100m"},
		{"sidecars count in the pod", pods{one, sidecar(list("cpu", "1"), list("cpu", "1"))}, pods{app(list("cpu", "800m"), list("cpu", "1200m")), sidecar(list("cpu", "1"), list("cpu", "1"))}, perPod(maximum), "maximum cpu usage per Pod is 2, but limit is 2200m"},
		{"an init container counts if it has more than the containers", pods{one, initContainer("init", list("cpu", "3"), list("cpu", "3"))}, pods{app(list("cpu", "800m"), list("cpu", "1200m")), initContainer("init", list("cpu", "3"), list("cpu", "3"))}, perPod(maximum), "maximum cpu usage per Pod is 2, but limit is 3"},
		{"an init container counts with the sidecars before it", pods{one, sidecar(list("cpu", "100m"), list("cpu", "100m")), initContainer("init", list("cpu", "2"), list("cpu", "2"))}, pods{app(list("cpu", "800m"), list("cpu", "1200m")), sidecar(list("cpu", "100m"), list("cpu", "100m")), initContainer("init", list("cpu", "2"), list("cpu", "2"))}, perPod(maximum), "maximum cpu usage per Pod is 2, but limit is 2100m"},
		{"a pod below its minimum", pods{one}, to("400m", "600m"), perPod(minimum), "minimum cpu usage per Pod is 500m, but request is 400m"},
		{"a pod's ratio", pods{one}, to("800m", "1300m"), perPod(ratio), "cpu max limit to request ratio per Pod is 1500m, but the ratio is 1.625000"},
		{"volume claims do not count", pods{one}, to("400m", "600m"), corev1.LimitRangeItem{Type: corev1.LimitTypePersistentVolumeClaim, Max: list("storage", "1Gi")}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &Surroundings{LimitRanges: []*corev1.LimitRange{{ObjectMeta: named("limits"), Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{tc.item}}}}}
			for range 10 { // The order of the resources must not matter.
				got := changeTo(podWith(tc.before...), podWith(tc.after...), s)
				if tc.want == "" {
					check(t, got, "", "")
					continue
				}
				check(t, got, contract.LimitRangeViolation, "LimitRange limits: "+tc.want)
			}
		})
	}
}

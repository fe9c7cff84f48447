package overrides

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/server/access"
	ratioservice "github.com/workload-resizer/workload-resizer/server/ratios"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// patchOfAStaleTable updates ratios on a replica whose table is stale: its overrides differ
// from those in the ConfigMap.
func patchOfAStaleTable(t *testing.T, x *suite) {
	const whole = "{cpuPerf: 2, memPerf: 3"
	const name = "stale"
	servertest.ConfigMapIn(t, x.client, x.namespace, name)
	// service returns a service with these overrides in its table.
	service := func(t *testing.T, shown *ratios.Layer, opts ...override.Option) *Service {
		t.Helper()
		store := ratios.NewStore(ratiotest.NewMemory(override.Source, ratios.Update{Layer: shown}), ratiotest.NewMemory("configmap", ratios.Update{Layer: servertest.Layer()}))
		servertest.Run(t, store.Run)
		localcluster.Eventually(t, "the ratios", func() error { _, err := store.Ready(); return err })
		overrides := override.New(x.client, x.namespace, name, opts...)
		return New(Config{Store: store, Overrides: overrides, Ratios: ratioservice.New(ratioservice.Config{Store: store, Overrides: overrides, Viewer: servertest.All})})
	}
	set := ratios.Ratio{CPUPerf: 2, MemoryPerf: 3, Provenance: ratios.Provenance{Source: override.Source}}
	limited := set
	limited.ExpireTime = servertest.Written.Add(time.Hour)
	for _, tc := range []struct {
		name string
		// shown is the override in the table, and stored the one in the ConfigMap.
		shown    *ratios.Ratio
		stored   string
		nodeType string
		// memory is the memory performance of the override after the update of cpu; 0 if
		// there must be no override.
		memory float64
	}{
		{"ignores a deleted override", &set, "", "n4", 1},
		{"ignores an expired override", &limited, `{n4: ` + whole + `, expireTime: "` + limited.ExpireTime.Format(time.RFC3339) + `"}}`, "n4", 1},
		{"does not know a node type that only a deleted override named", &set, "", "c3", 0},
		{"does not know a node type that only an expired override named", &limited, `{c3: ` + whole + `, expireTime: "` + limited.ExpireTime.Format(time.RFC3339) + `"}}`, "c3", 0},
		{"keeps the other values of a new override", nil, `{n4: ` + whole + `}}`, "n4", 3},
		{"knows a node type that only a new override names", nil, `{c3: ` + whole + `}}`, "c3", 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if tc.stored != "" {
				configMap.Data = map[string]string{override.Key: "overrides: " + tc.stored}
			}
			if _, err := x.client.CoreV1().ConfigMaps(x.namespace).Update(t.Context(), configMap, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			shown := &ratios.Layer{Ratios: map[string]ratios.Ratio{}}
			if tc.shown != nil {
				shown.Ratios[tc.nodeType] = *tc.shown
			}
			s := service(t, shown, override.WithClock(testingclock.NewFakeClock(limited.ExpireTime)))
			response, err := s.UpdateOverride(access.NewContext(t.Context(), access.Caller{Local: true}), cpu(tc.nodeType, 1.5))
			if tc.memory == 0 {
				servertest.CheckError(t, err, codes.NotFound, "NODE_TYPE_UNKNOWN", `node type "c3" has no ratio`)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			deltas := response.GetChange().GetDeltas()
			if to := deltas[0].GetTo(); len(deltas) != 1 || to.GetCpuPerf() != 1.5 || to.GetMemoryPerf() != tc.memory || to.GetExpireTime() != nil {
				t.Errorf("changed %v", deltas)
			}
		})
	}
	t.Run("names the request that lacks a value", func(t *testing.T) {
		s := service(t, &ratios.Layer{})
		lacking := cpu("c4", 1.5)
		lacking.AllowNewNodeType = true
		_, err := s.BatchUpdateOverrides(t.Context(), &workloadresizerv1.BatchUpdateOverridesRequest{Requests: []*workloadresizerv1.UpdateOverrideRequest{cpu("n4", 2), lacking}})
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "requests[1].override.memory_perf must be set: no source has a ratio for this node type")
	})
}

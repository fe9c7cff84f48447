package overrides

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	testingclock "k8s.io/utils/clock/testing"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// patchOfAStaleTable updates ratios on a replica whose table is stale: its overrides differ
// from those in the ConfigMap.
func patchOfAStaleTable(t *testing.T, client kubernetes.Interface, namespace, name string) {
	const whole = "{cpuPerf: 2, memPerf: 3"
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), configMap, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
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
			configMap := configMap.DeepCopy()
			if tc.stored != "" {
				configMap.Data = map[string]string{override.Key: "overrides: " + tc.stored}
			}
			if _, err := client.CoreV1().ConfigMaps(namespace).Update(t.Context(), configMap, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			shown := &ratios.Layer{Ratios: map[string]ratios.Ratio{}}
			if tc.shown != nil {
				shown.Ratios[tc.nodeType] = *tc.shown
			}
			store := ratios.NewStore(ratiotest.NewMemory(override.Source, ratios.Update{Layer: shown}), ratiotest.NewMemory("configmap", ratios.Update{Layer: servertest.Layer()}))
			go func() { _ = store.Run(t.Context()) }()
			localcluster.Eventually(t, "the ratios", func() error { _, err := store.Ready(); return err })
			clock := testingclock.NewFakeClock(limited.ExpireTime)
			s := New(Config{Store: store, Overrides: override.New(client, namespace, name, override.WithClock(clock)), Viewer: servertest.All})

			response, err := s.UpdateRatio(access.NewContext(t.Context(), access.Caller{Local: true}), cpu(tc.nodeType, 1.5))
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
		store := ratios.NewStore(ratiotest.NewMemory(override.Source, ratios.Update{Layer: &ratios.Layer{}}), ratiotest.NewMemory("configmap", ratios.Update{Layer: servertest.Layer()}))
		go func() { _ = store.Run(t.Context()) }()
		localcluster.Eventually(t, "the ratios", func() error { _, err := store.Ready(); return err })
		s := New(Config{Store: store, Overrides: override.New(client, namespace, name), Viewer: servertest.All})
		lacking := cpu("c4", 1.5)
		lacking.AllowMissing = true
		_, err := s.BatchUpdateRatios(t.Context(), &workloadresizerv1.BatchUpdateRatiosRequest{Requests: []*workloadresizerv1.UpdateRatioRequest{cpu("n4", 2), lacking}})
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "requests[1].ratio.memory_perf must be set: no source has a ratio for this node type")
	})
}

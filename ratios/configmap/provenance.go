package configmap

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// provenance returns who wrote the configuration and when. It is the most recent manager that
// owns the configuration's key in the ConfigMap's managed fields.
func provenance(cm *corev1.ConfigMap) ratios.Provenance {
	from := ratios.Provenance{Source: Source, UpdateTime: cm.CreationTimestamp.Time}
	for _, m := range cm.ManagedFields {
		if m.Time == nil || m.Time.Time.Before(from.UpdateTime) || !ownsKey(m.FieldsV1) {
			continue
		}
		from.UpdateTime, from.Author = m.Time.Time, m.Manager
	}
	return from
}

func ownsKey(owned *metav1.FieldsV1) bool {
	var set struct {
		Data map[string]json.RawMessage `json:"f:data"`
	}
	if owned == nil || json.Unmarshal(owned.GetRawBytes(), &set) != nil {
		return false
	}
	_, ok := set.Data["f:"+Key]
	return ok
}

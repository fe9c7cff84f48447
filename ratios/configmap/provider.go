package configmap

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/internal/follow"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
)

// Source is the name of this source.
const Source = "configmap"

// Key is the key of the ConfigMap that holds the configuration.
const Key = config.FileName

// Provider reads the ratios from one ConfigMap.
type Provider struct {
	source             follow.ConfigMap
	onReject, onUnused func(*corev1.ConfigMap, error)
}

var _ ratios.Provider = (*Provider)(nil)

// New returns a provider for one ConfigMap. The client must be allowed to list
// and watch it. onReject, which may be nil, receives content that was rejected
// and what is wrong with it. onUnused, which may be nil, receives content
// some of whose node types are not used, and why. Neither must block.
func New(client kubernetes.Interface, namespace, name string, onReject, onUnused func(*corev1.ConfigMap, error)) *Provider {
	p := &Provider{follow.ConfigMap{Client: client, Namespace: namespace, Name: name}, onReject, onUnused}
	for _, on := range []*func(*corev1.ConfigMap, error){&p.onReject, &p.onUnused} {
		if *on == nil {
			*on = func(*corev1.ConfigMap, error) {}
		}
	}
	return p
}

// Name implements ratios.Provider.
func (p *Provider) Name() string { return Source }

// Run implements ratios.Provider.
func (p *Provider) Run(ctx context.Context, report func(ratios.Update)) error {
	var last *ratios.Layer // The last good one.
	return p.source.Run(ctx, func(cm *corev1.ConfigMap, err error) {
		if err != nil {
			report(ratios.Update{Err: err})
			return
		}
		layer, err := parse(cm)
		if err != nil {
			p.onReject(cm, err)
			report(ratios.Update{Err: fmt.Errorf("%s: %w", p.source, err)})
			return
		}
		if table, err := ratios.Merge([]*ratios.Layer{layer}); err == nil && table.ImplausibleRatios() != nil {
			p.onUnused(cm, table.ImplausibleRatios())
		}
		layer.KeepProvenance(last)
		last = layer
		report(ratios.Update{Layer: layer})
	})
}

func parse(cm *corev1.ConfigMap) (*ratios.Layer, error) {
	text, ok := cm.Data[Key]
	if !ok {
		return nil, fmt.Errorf("key %q is missing", Key)
	}
	return config.Parse([]byte(text), provenance(cm))
}

package benchmark

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/internal/follow"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/settings"
)

// Settings returns the settings in effect; nil until they are read. The error explains why they
// differ from their ConfigMap.
func (p *Provider) Settings() (*settings.Settings, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settings, p.settingsErr
}

// WatchSettings returns a channel that receives a value after every change to the
// settings in effect. Changes that arrive faster than they are received are combined.
func (p *Provider) WatchSettings() <-chan struct{} { return p.configured.Watch() }

// followSettings follows the ConfigMap of the settings. Without a ConfigMap, the defaults
// apply. Settings that cannot be read leave the last good ones in effect.
func (p *Provider) followSettings(ctx context.Context) error {
	source := follow.ConfigMap{Client: p.config.Client, Namespace: p.config.Namespace, Name: p.config.SettingsName}
	return source.Run(ctx, func(cm *corev1.ConfigMap, err error) {
		switch {
		case errors.Is(err, follow.ErrMissing):
			p.configure(ctx, settings.Defaults())
		case err != nil:
			p.configureNot(err)
		default:
			s, err := settings.Parse(cm.Data[settings.Key])
			if err != nil {
				err = fmt.Errorf("%s: %s: %w", source, settings.Key, err)
				p.config.OnReject(cm, err)
				p.configureNot(err)
				return
			}
			p.configure(ctx, s)
		}
	})
}

func (p *Provider) configure(ctx context.Context, s settings.Settings) {
	p.mu.Lock()
	p.settings, p.settingsErr = &s, nil
	p.mu.Unlock()
	p.samples.SetLimits(s.Limits)
	p.configured.Notify()
	klog.FromContext(ctx).V(1).Info("New benchmark settings", "mode", s.Default, "feeds", len(s.Feeds))
	p.tell()
}

func (p *Provider) configureNot(err error) {
	p.mu.Lock()
	p.settingsErr = err
	p.mu.Unlock()
	p.tell()
}

package monitoring

import (
	"fmt"
	"os"
	"regexp"
	"strconv"

	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// scrapeInterval is short, so that nobody has to wait for the first rates.
const scrapeInterval = "5s"

// WritePrometheusConfig writes Prometheus' configuration and returns its arguments.
func WritePrometheusConfig(cluster *state.Cluster) (arguments []string, err error) {
	file := cluster.PrometheusConfig()
	content, err := yaml.Marshal(prometheusConfig(cluster))
	if err != nil {
		return nil, fmt.Errorf("encode Prometheus' configuration: %w", err)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return nil, err
	}
	return []string{
		"--config.file=" + file,
		"--storage.tsdb.path=" + cluster.PrometheusDir(),
		"--web.listen-address=127.0.0.1:" + strconv.Itoa(cluster.Ports.Prometheus),
		// By default, any web page that the user visits may read the metrics.
		"--web.cors.origin=" + regexp.QuoteMeta(cluster.PrometheusURL()),
	}, nil
}

// prometheusConfig scrapes what the kubelets of real clusters are usually scraped for, with the
// usual labels.
func prometheusConfig(cluster *state.Cluster) any {
	type object = map[string]any
	targets := func(path string, port func(state.Node) int) []object {
		var groups []object
		for _, node := range cluster.Nodes {
			groups = append(groups, object{
				"targets": []string{fmt.Sprintf("127.0.0.1:%d", port(node))},
				"labels":  object{"node": node.Name, "job": "kubelet", "metrics_path": path},
			})
		}
		return groups
	}
	scrape := func(name, path string, port func(state.Node) int) object {
		return object{
			"job_name":     name,
			"scheme":       "https",
			"metrics_path": path,
			"tls_config": object{
				"ca_file":   cluster.Cert(state.CA),
				"cert_file": cluster.Cert(state.KubeletClient),
				"key_file":  cluster.Key(state.KubeletClient),
			},
			"static_configs": targets(path, port),
		}
	}
	return object{
		"global": object{"scrape_interval": scrapeInterval, "scrape_timeout": scrapeInterval},
		"scrape_configs": []object{
			scrape("cadvisor", "/metrics/cadvisor", func(n state.Node) int { return n.ExporterPort }),
			scrape("resource", "/metrics/resource", func(n state.Node) int { return n.KubeletPort }),
		},
	}
}

package server

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/server/access"
)

// serverMethods returns all methods that the server offers by their full names.
func serverMethods(s *Server) map[string]grpc.MethodInfo {
	all := map[string]grpc.MethodInfo{}
	for service, info := range (offered{s.grpc}).GetServiceInfo() {
		for _, m := range info.Methods {
			all["/"+service+"/"+m.Name] = m
		}
	}
	return all
}

// everyMethod returns the methods of a server with everything enabled.
func everyMethod() map[string]grpc.MethodInfo {
	return serverMethods(New(Config{Ratios: ratios.NewStore(), Reflection: true, Channelz: true, Metrics: prometheus.NewRegistry()}))
}

func TestMethods(t *testing.T) {
	t.Run("leastRole names only existing methods", leastRoleNamesOnlyExistingMethods)
	t.Run("a server stream is PreviewPlans or a watch", aServerStreamIsPreviewPlansOrAWatch)
	t.Run("reflection and channelz can be enabled", reflectionAndChannelzCanBeEnabled)
}

func leastRoleNamesOnlyExistingMethods(t *testing.T) {
	served := everyMethod()
	for name := range leastRole {
		if _, ok := served[name]; !ok {
			t.Errorf("leastRole names %s, which is not a method of the server", name)
		}
	}
}

func aServerStreamIsPreviewPlansOrAWatch(t *testing.T) {
	for name, method := range everyMethod() {
		ours := strings.HasPrefix(name, "/workloadresizer.v1.")
		switch {
		case ours && method.IsServerStream && name != workloadresizerv1.PlanService_PreviewPlans_FullMethodName && !access.IsWatch(name):
			t.Errorf("%s is a stream that does not need the right to watch", name)
		case access.IsWatch(name) && !method.IsServerStream:
			t.Errorf("%s needs the right to watch, but is not a stream", name)
		}
	}
}

func reflectionAndChannelzCanBeEnabled(t *testing.T) {
	for _, on := range []bool{false, true} {
		services := New(Config{Ratios: ratios.NewStore(), Reflection: on, Channelz: on, Metrics: prometheus.NewRegistry()}).grpc.GetServiceInfo()
		for _, name := range []string{"grpc.reflection.v1.ServerReflection", "grpc.channelz.v1.Channelz"} {
			if _, served := services[name]; served != on {
				t.Errorf("enabled: %v; %s is served: %v", on, name, served)
			}
		}
	}
}

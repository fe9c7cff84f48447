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

// serverMethods returns all methods of the server, by their full names.
func serverMethods(s *Server) map[string]grpc.MethodInfo {
	all := map[string]grpc.MethodInfo{}
	for service, info := range s.grpc.GetServiceInfo() {
		for _, m := range info.Methods {
			all["/"+service+"/"+m.Name] = m
		}
	}
	return all
}

// everyMethod are those of a server with all that can be switched on.
func everyMethod() map[string]grpc.MethodInfo {
	return serverMethods(New(Config{Ratios: ratios.NewStore(), Reflection: true, Channelz: true, Metrics: prometheus.NewRegistry()}))
}

func TestMethods(t *testing.T) {
	t.Run("tables of methods name only methods that there are", tablesOfMethodsNameOnlyMethodsThatThereAre)
	t.Run("a stream of the server is preview plans or a watch", aStreamOfTheServerIsPreviewPlansOrAWatch)
	t.Run("reflection and channelz can be switched", reflectionAndChannelzCanBeSwitched)
}

func tablesOfMethodsNameOnlyMethodsThatThereAre(t *testing.T) {
	served := everyMethod()
	for name := range leastRole {
		if _, ok := served[name]; !ok {
			t.Errorf("leastRole names %s, which is no method of the server", name)
		}
	}
}

func aStreamOfTheServerIsPreviewPlansOrAWatch(t *testing.T) {
	for name, method := range everyMethod() {
		ours := strings.HasPrefix(name, "/workloadresizer.v1.")
		switch {
		case ours && method.IsServerStream && name != workloadresizerv1.PlanService_PreviewPlans_FullMethodName && !access.IsWatch(name):
			t.Errorf("%s needs no right to watch, so it goes on as long as it likes", name)
		case access.IsWatch(name) && !method.IsServerStream:
			t.Errorf("%s is no stream, so it is no watch", name)
		}
	}
}

func reflectionAndChannelzCanBeSwitched(t *testing.T) {
	for _, on := range []bool{false, true} {
		services := New(Config{Ratios: ratios.NewStore(), Reflection: on, Channelz: on, Metrics: prometheus.NewRegistry()}).grpc.GetServiceInfo()
		for _, name := range []string{"grpc.reflection.v1.ServerReflection", "grpc.channelz.v1.Channelz"} {
			if _, served := services[name]; served != on {
				t.Errorf("switched on: %v; %s is served: %v", on, name, served)
			}
		}
	}
}

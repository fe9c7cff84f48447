package suite

// Suites is the table of suites. A benchmark that is not in it counts with weight 1 if users
// import it as a table or as samples; other feeds skip it, because it may not load all vCPUs, or
// less may be faster.
var Suites = []Suite{
	{
		Name: "coremark", Weight: 1, Parts: 0,
		Why:   "lists, matrices, a state machine and checksums, one copy per vCPU",
		Tests: tests("coremark:coremark score"),
	},
	{
		Name: "geekbench", Weight: 1, Parts: 1,
		Why: "fourteen programs that people use, such as a compiler, a browser and a file archiver; without the two for machine learning, which instructions accelerate, and without the total, which contains them",
		Tests: tests("geekbench:asset_compression", "geekbench:clang", "geekbench:file_compression", "geekbench:hdr",
			"geekbench:horizon_detection", "geekbench:html5_browser", "geekbench:navigation", "geekbench:object_remover",
			"geekbench:pdf_renderer", "geekbench:photo_filter", "geekbench:photo_library", "geekbench:ray_tracer",
			"geekbench:structure_from_motion", "geekbench:text_processing"),
	},
	{
		Name: "geekbench-accelerated", Weight: 0,
		Why:   "machine learning, which instructions accelerate on some CPUs, and the total that contains it",
		Tests: tests("geekbench:background_blur", "geekbench:object_detection", "geekbench:score"),
	},
	{
		Name: "passmark", Weight: 1, Parts: 1,
		Why: "integers, floating point, prime numbers, sorting, physics and compression, one copy per vCPU; without encryption and extended instructions, and without the total, which contains them",
		Tests: tests("passmark:cpu_integer_maths_test", "passmark:cpu_floating_point_maths_test", "passmark:cpu_prime_numbers_test",
			"passmark:cpu_string_sorting_test", "passmark:cpu_physics_test", "passmark:cpu_compression_test"),
	},
	{
		Name: "passmark-accelerated", Weight: 0,
		Why:   "encryption and vector instructions, which only some CPUs accelerate, and the total that contains them",
		Tests: tests("passmark:cpu_encryption_test", "passmark:cpu_extended_instructions_test", "passmark:cpu_mark"),
	},
	{
		Name: "passmark-single", Weight: 0,
		Why:   "one thread of a test that is not run on all vCPUs",
		Tests: tests("passmark:cpu_single_threaded_test", "passmark:database_operations"),
	},
	{
		Name: "redis", Weight: 1, Parts: 2,
		Why:   "a server and its client on each vCPU: system calls and the network stack, as in most services; the pipeline of 16 represents its variants",
		Tests: []Test{{"redis:rps", map[string]string{"pipeline": "16"}}},
	},
	{
		Name: "redis-variants", Weight: 0,
		Why:   "the other lengths of the pipeline, results that are extrapolated, and latencies",
		Tests: tests("redis:*"),
	},
	{
		Name: "static_web", Weight: 0,
		Why:   "the same system calls and network stack as redis, which would count twice",
		Tests: tests("static_web:*", "app:static_web"),
	},
	{
		Name: "stress_ng", Weight: 0,
		Why:   "a loop of one instruction, a division of 16 bits, which measures a part of the CPU that programs rarely use",
		Tests: tests("stress_ng:*"),
	},
	{
		Name: "openssl", Weight: 0,
		Why:   "hashing and encryption, which instructions accelerate on some CPUs",
		Tests: tests("openssl"),
	},
	{
		Name: "compression_text", Weight: 0,
		Why:   "an input that is too short to keep all vCPUs busy, and rows do not state the version of the compressor",
		Tests: tests("compression_text:*"),
	},
	{
		Name: "memory", Weight: 0,
		Why:   "the memory, whose speed does not depend on the vCPUs that a pod requests",
		Tests: tests("passmark:memory_*", "bw_mem", "membench:*"),
	},
	{
		Name: "bogomips", Weight: 0,
		Why:   "not a measurement, but a constant for delay loops",
		Tests: tests("bogomips"),
	},
	{
		Name: "speccpu2017-int", Weight: 1,
		Why:   "ten real programs that compute with integers, one copy per vCPU",
		Tests: tests("speccpu2017:specrate2017_int_base"),
	},
	{
		Name: "speccpu2017-fp", Weight: 0,
		Why:   "simulations of physics in floating point, which servers rarely run",
		Tests: tests("speccpu2017:specrate2017_fp_base"),
	},
	{
		Name: "unixbench", Weight: 1,
		Why:   "system calls, pipes, processes and files, one copy per vCPU",
		Tests: tests("unixbench:score"),
	},
	{
		Name: "sysbench-cpu", Weight: 0,
		Why:   "a loop that searches for prime numbers by division, which measures little else",
		Tests: tests("sysbench:cpu_events_per_second"),
	},
	{
		Name: "phoronix-build-linux-kernel", Weight: 1,
		Why:   "a compiler on all vCPUs",
		Tests: tests("pts/build-linux-kernel"),
	},
	{
		Name: "phoronix-compress-7zip", Weight: 1,
		Why:   "compression with one thread per vCPU, and large tables in memory",
		Tests: []Test{{"pts/compress-7zip", map[string]string{"test": "compression rating"}}},
	},
	{
		Name: "phoronix-stockfish", Weight: 1,
		Why:   "a search with many branches on all vCPUs",
		Tests: tests("pts/stockfish"),
	},
	{
		Name: "bench-node:memory-*", Weight: 0,
		Why: "the memory, whose speed does not depend on the vCPUs that a pod requests",
	},
	{
		Name: "bench-node:sha256", Weight: 0,
		Why: "hashing, which instructions accelerate on some CPUs; agents of earlier releases measure it",
	},
	{
		Name: "bench-node:*", Weight: 1,
		Why: "a part of Go's standard library that servers use: compression, JSON, regular expressions or sorting",
	},
}

// tests returns tests that have no variants.
func tests(names ...string) []Test {
	all := make([]Test, len(names))
	for i, name := range names {
		all[i] = Test{Name: name}
	}
	return all
}

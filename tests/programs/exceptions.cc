// Exceptions: the unwinder of the guest itself runs, over the guest's own frames.

#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

static int alive;

struct Guard {
	int id;
	explicit Guard(int id) : id(id) { alive++; }
	Guard(const Guard &) = delete;
	~Guard() { alive--; }
};

struct Custom : std::runtime_error {
	long value;
	Custom(const std::string &what, long value) : std::runtime_error(what), value(value) {}
};

[[gnu::noinline]] static long dig(int depth, int kind)
{
	Guard guard(depth);
	double kept = depth * 0.5;
	// A frame of variable size, so that some frames hang on $15.
	auto *bytes = static_cast<volatile char *>(__builtin_alloca(16 + depth * 8));
	bytes[0] = static_cast<char>(depth);

	if (depth == 0) {
		switch (kind) {
		case 0: throw 17;
		case 1: throw Custom("custom", 99);
		case 2: return std::vector<long>(3).at(5);
		case 3: throw "text";
		default: return 0;
		}
	}
	long below = dig(depth - 1, kind);
	return below + static_cast<long>(kept) + bytes[0];
}

static void rethrow(int kind)
{
	try {
		dig(10, kind);
	} catch (const std::exception &error) {
		std::cout << "seen " << (dynamic_cast<const Custom *>(&error) ? "custom" : "other") << ", ";
		throw;
	}
}

int main()
{
	for (int kind = 0; kind < 5; kind++) {
		try {
			std::cout << "kind " << kind << ": ";
			rethrow(kind);
			std::cout << "nothing";
		} catch (int number) {
			std::cout << "int " << number;
		} catch (const Custom &error) {
			std::cout << error.what() << ' ' << error.value;
		} catch (const std::out_of_range &) {
			std::cout << "out of range";
		} catch (...) {
			std::cout << "something";
		}
		std::cout << ", alive " << alive << '\n';
	}

	std::exception_ptr kept;
	try {
		try {
			throw std::logic_error("inner");
		} catch (...) {
			std::throw_with_nested(Custom("outer", 1));
		}
	} catch (...) {
		kept = std::current_exception();
	}
	try {
		std::rethrow_exception(kept);
	} catch (const Custom &outer) {
		std::cout << outer.what();
		try {
			std::rethrow_if_nested(outer);
		} catch (const std::logic_error &inner) {
			std::cout << " around " << inner.what() << '\n';
		}
	}

	long caught = 0;
	for (int i = 0; i < 3000; i++) {
		try {
			dig(i % 20, i % 4);
		} catch (...) {
			caught++;
		}
	}
	std::cout << caught << " caught, alive " << alive << ", uncaught " << std::uncaught_exceptions() << '\n';
	return 0;
}

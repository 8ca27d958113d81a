// The C++ library: streams, locale-aware formatting, containers, algorithms.

#include <algorithm>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

struct Shape {
	virtual ~Shape() = default;
	virtual double area() const = 0;
	virtual std::string name() const { return "shape"; }
};

struct Box : Shape {
	double a, b;
	Box(double a, double b) : a(a), b(b) {}
	double area() const override { return a * b; }
	std::string name() const override { return "box"; }
};

struct Square final : Box {
	explicit Square(double a) : Box(a, a) {}
	std::string name() const override { return "square"; }
};

int main()
{
	std::cout << "numbers " << 42 << ' ' << -7L << ' ' << 3.25 << ' ' << true << '\n';
	std::cout << std::hex << std::showbase << 255 << std::dec << std::setw(8) << 17 << '|' << std::left
		  << std::setw(8) << 17 << '|' << std::setfill('*') << std::right << std::setw(6) << "ab" << '\n';
	std::cout << std::fixed << std::setprecision(3) << 2.0 / 3 << ' ' << std::scientific << 12345.678 << '\n';
	std::cout << std::defaultfloat << std::setprecision(6) << std::setfill(' ');

	std::istringstream in("12 words 3.5\nand a line");
	int whole;
	double real;
	std::string word, line;
	in >> whole >> word >> real;
	std::getline(in >> std::ws, line);
	std::cout << whole << ',' << word << ',' << real << ',' << line << '\n';

	std::map<std::string, int> counts;
	for (const char *text : {"pear", "apple", "fig", "apple", "pear", "apple"})
		counts[text]++;
	for (const auto &[fruit, count] : counts)
		std::cout << fruit << '=' << count << ' ';
	std::cout << '\n';

	std::mt19937_64 random(12345);
	std::vector<unsigned long> values(50000);
	std::generate(values.begin(), values.end(), std::ref(random));
	std::sort(values.begin(), values.end(), std::greater<>());
	std::unordered_map<unsigned long, std::size_t> places;
	for (std::size_t i = 0; i < values.size(); i++)
		places[values[i]] = i;
	std::cout << values.front() << ' ' << values.back() << ' ' << places.at(values[777]) << ' '
		  << std::accumulate(values.begin(), values.end(), 0UL) << '\n';
	std::cout << std::set<unsigned long>(values.begin(), values.end()).size() << '\n';

	std::vector<std::unique_ptr<Shape>> shapes;
	shapes.push_back(std::make_unique<Box>(2, 3.5));
	shapes.push_back(std::make_unique<Square>(1.5));
	for (const auto &shape : shapes)
		std::cout << shape->name() << ' ' << shape->area() << ' '
			  << (dynamic_cast<Square *>(shape.get()) != nullptr) << '\n';

	const std::string text = "born 1992-02-25, retired 2007-04-27";
	const std::regex date("([0-9]{4})-([0-9]{2})-([0-9]{2})");
	for (std::sregex_iterator at(text.begin(), text.end(), date), end; at != end; ++at)
		std::cout << (*at)[1] << '/' << (*at)[2] << '/' << (*at)[3] << '\n';

	std::ostringstream out;
	for (int i = 0; i < 1000; i++)
		out << i * 0.37 << ';';
	std::cout << out.str().size() << ' ' << std::stoul("ff", nullptr, 16) << '\n';
	return std::cout ? 0 : 1;
}
